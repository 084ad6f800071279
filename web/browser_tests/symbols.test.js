// Symbols in the search box, beside the results and around them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completesTo, text, withPage } from './lib/browser.js';

test('a name of a symbol completes a word, by keyboard alone', () => withPage({}, async (page) => {
  await page.goto('/');
  const box = page.getByRole('combobox', { name: 'What to search for' });
  await box.pressSequentially('-kind:tests close_c');
  await completesTo(page, /^close_connection function · .+\/socket\.[ch]:\d+$/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  assert.equal(await box.inputValue(), '-kind:tests close_connection ');
}));

test('after t a symbol leads to its definition', () => withPage({}, async (page) => {
  await page.goto('/packages');
  await page.keyboard.press('t');
  await page.keyboard.type('openc');
  await completesTo(page, /^openConnection/);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/show\?package=webapp_2\.1&path=app\/static\/view\.js&line=1#L1$/);
}));

test('kinds of symbols narrow a search for symbols', () => withPage({}, async (page) => {
  await page.goto('/search?q=sym:_connection+package:webapp');
  const list = page.locator('#facets section[aria-labelledby=by-symbol]');
  assert.match(await list.innerText(), /^Kinds of symbol\s+function\s*3/i);
  await page.goto('/search?q=sym:e');
  await page.getByRole('link', { name: 'section', exact: true }).click();
  await page.waitForURL(/kind=section/);
  const ticked = list.getByRole('checkbox', { name: 'section', exact: true });
  assert.equal(await ticked.isChecked(), true);
  const count = await list.locator('li.selected .count').innerText();
  assert.equal(await text(page, '.summary b'), count);
  await list.getByRole('checkbox', { name: 'function', exact: true }).check();
  await page.waitForURL(/kind=section.*kind=function|kind=function.*kind=section/);
}));

test('a label names the definition around the lines and leads to it', () => withPage({}, async (page) => {
  await page.goto('/search?q=TCP_NODELAY+path:=src/socket.c');
  const labels = page.locator('.inside');
  assert.deepEqual(await labels.allInnerTexts(), ['in function open_connection', 'in function close_connection']);
  await labels.getByRole('link').last().click();
  await page.waitForURL(/path=src\/socket\.c&line=15#L15$/);
}));
