// Narrowing a search: facets, the parts of the query, and what helps when nothing was found.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completed, completesTo, text, withPage } from './lib/browser.js';
import { startSplit } from './lib/server.js';

test('a click on a facet keeps its matches alone, another leaves them out', () => withPage({}, async (page) => {
  await page.goto('/search?q=TCP_NODELAY');
  const facets = page.getByRole('complementary', { name: 'Narrow the search' });
  await facets.getByRole('link', { name: 'JavaScript', exact: true }).click();
  await page.waitForURL(/lang=JavaScript/);
  assert.match(await text(page, '.filters'), /lang:JavaScript/);
  await facets.getByRole('link', { name: 'All but tests', exact: false }).count();
  await page.goto('/search?q=open_connection');
  const before = await text(page, '.summary');
  await facets.getByRole('link', { name: 'All but tests, examples' }).click();
  await page.waitForURL(/kind=-tests/);
  assert.notEqual(await text(page, '.summary'), before);
}));

test('directories lead further down', () => withPage({}, async (page) => {
  await page.goto('/search?q=open_connection');
  const list = page.locator('section[aria-labelledby=by-path]');
  await list.getByRole('link', { name: 'app/', exact: true }).click();
  await page.waitForURL(/path=%5Eapp/);
  assert.match(await list.innerText(), /app\/copy\//);
}));

test('on a phone the facets are folded until they are wanted', () => withPage({ viewport: { width: 360, height: 740 } }, async (page) => {
  await page.goto('/search?q=TCP_NODELAY');
  const language = page.getByRole('link', { name: 'JavaScript', exact: true });
  assert.equal(await language.isVisible(), false);
  await page.getByText('Narrow the search').click();
  assert.equal(await language.isVisible(), true);
}));

test('facets work without a script, and typed filters are ticked', () => withPage({ javaScriptEnabled: false }, async (page) => {
  const box = (/** @type {string} */ name) => page.getByRole('checkbox', { name, exact: true });
  const open = () => page.locator('#facets > details').evaluate((lists) => { /** @type {any} */ (lists).open = true; });
  await page.goto('/search?q=TCP_NODELAY+lang:c');
  await open();
  assert.equal(await box('C').isChecked(), true);
  await page.getByRole('link', { name: 'Languages: all' }).click();
  await page.waitForURL(/q=TCP_NODELAY$/);
  await open();
  await box('JavaScript').check();
  await box('C').check();
  await page.getByRole('button', { name: 'Search with what is ticked' }).click();
  await page.waitForURL(/lang=C&lang=JavaScript|lang=JavaScript&lang=C/);
  await page.getByRole('link', { name: 'JavaScript', exact: true }).click();
  await page.waitForURL(/lang=JavaScript/);
}));

test('ticked values are alternatives, a box takes one away, and the other values stay', () => withPage({}, async (page) => {
  const list = page.locator('section[aria-labelledby=by-lang]');
  const box = (/** @type {string} */ name) => list.getByRole('checkbox', { name, exact: true });
  const found = async () => Number((await text(page, '.summary b')).replace(',', ''));
  await page.goto('/search?q=TCP_NODELAY');
  const all = await found();
  await box('C').check();
  await page.waitForURL(/lang=C$/);
  const c = await found();
  await box('JavaScript').check();
  await page.waitForURL(/lang=C&lang=JavaScript/);
  const both = await found();
  assert.ok(c < both && both < all, `${c} of C, ${both} of both, ${all}`);
  await box('C').uncheck();
  await page.waitForURL(/[?]q=TCP_NODELAY&lang=JavaScript$/);
  assert.equal(await found(), both - c);
  await box('C').waitFor();
}));

test('a filter is ticked by keyboard, beside those that are', () => withPage({}, async (page) => {
  await page.goto('/search?q=TCP_NODELAY+lang:c');
  await page.locator('section[aria-labelledby=by-lang] input').nth(1).waitFor();
  await page.keyboard.press('f');
  await page.keyboard.press('l');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.waitForURL(/lang=.*lang=/);
}));

test('counts grow while a search runs, and are exact at its end', async () => {
  const split = await startSplit(process.env.TRAWL_INDEX ?? '');
  try {
    await withPage({ baseURL: split.url, mayRun: true }, async (page) => {
      split.gate.slow(20_000);
      await page.goto('/search?q=needle+timeout:300');
      await page.locator('#facets[data-next-href] .count').first().waitFor();
      split.gate.open();
      await page.locator('#facets:not([data-next-href]) .count').first().waitFor();
      assert.match(await text(page, 'section[aria-labelledby=by-lang]'), /C 30,000/);
    });
  } finally {
    await split.stop();
  }
});

test('an empty answer says which filter removes everything, and which package does not exist', () => withPage({}, async (page) => {
  await page.goto('/search?q=TCP_NODELAY+package:netlub');
  assert.match(await text(page, '.nothing'), /No package matches netlub. Did you mean netlib\?/);
  await page.getByRole('link', { name: 'without package:netlub' }).click();
  await page.waitForURL(/q=TCP_NODELAY$/);
}));

test('an empty answer says how else to read what was typed', () => withPage({}, async (page) => {
  await page.goto('/search?q=TCP_NO.*AY');
  await page.getByRole('link', { name: 'as a regular expression' }).click();
  await page.waitForURL(/mode=regexp/);
  assert.match(await text(page, '.summary'), /matches in/);
}));

test('a query is completed by keyboard alone', () => withPage({}, async (page) => {
  await page.goto('/');
  const box = page.getByRole('combobox', { name: 'What to search for' });
  await box.pressSequentially('TCP_NODELAY la');
  await completed(page);
  assert.equal(await page.getByRole('option', { name: /^lang:/ }).count(), 1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await box.pressSequentially('javas');
  await completed(page);
  assert.equal(await page.getByRole('option', { name: /^JavaScript/ }).count(), 1);
  await page.keyboard.press('ArrowDown');
  assert.equal(await box.getAttribute('aria-activedescendant'), 'completion-0');
  await page.keyboard.press('Enter');
  assert.equal(await box.inputValue(), 'TCP_NODELAY lang:JavaScript ');
  assert.equal(await box.getAttribute('aria-expanded'), 'false');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=TCP_NODELAY\+lang%3AJavaScript/);
}));

test('Escape closes the completions, and Enter then searches for what was typed', () => withPage({}, async (page) => {
  await page.goto('/');
  const box = page.getByRole('combobox', { name: 'What to search for' });
  await box.pressSequentially('needle lang:javas');
  await completed(page);
  assert.match(await text(page, '#completions'), /^JavaScript\b/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#completions li').count(), 0);
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=needle\+lang%3Ajavas/);
}));

test('an empty answer has words that are spelled nearly the same', () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto('/search?q=open_conection+lang:c');
  assert.match(await text(page, '.nothing'), /Did you mean open_connection \(\d+ matches\)\?/);
  await page.locator('.nothing').getByRole('link', { name: 'open_connection' }).click();
  await page.waitForURL(/q=open_connection%20lang%3Ac$/);
  assert.match(await text(page, 'main mark'), /open_connection/);
}));

test('a name of a file is completed after the key t', () => withPage({}, async (page) => {
  await page.goto('/packages');
  await page.keyboard.press('t');
  await page.keyboard.type('ocket.h');
  await completesTo(page, /^src\/socket\.h/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#q').inputValue(), 'type:path path:=src/socket.h ');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/search\?q=type/);
  assert.equal(await text(page, '.result h2'), 'netlib_1.0/src/socket.h');
}));
