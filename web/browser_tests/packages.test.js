// The pages of packages and directories, and of what was left out of the index.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text, withPage } from './lib/browser.js';

test('from any page to a package and to its files', () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto('/search?q=open_connection');
  await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Packages' }).click();
  assert.match(await text(page, '.about'), /10 packages/);
  await page.click('a:has-text("netlib_1.0")');
  assert.match(await text(page, '.readme'), /Connections for <everybody>/);
  await page.click('.entries a:has-text("src/")');
  await page.click('.entries a:has-text("socket.c")');
  assert.equal(await text(page, 'h1'), 'socket.c');
}));

test('packages are found by their names', () => withPage({}, async (page) => {
  await page.goto('/packages');
  await page.fill('main input[type=search]', 'net');
  await page.keyboard.press('Enter');
  await page.waitForURL(/=net$/);
  assert.deepEqual(await page.locator('.entries tbody a').allInnerTexts(), ['netlib_1.0']);
}));

test('the search in a package finds nothing else', () => withPage({}, async (page) => {
  await page.goto('/p/netlib_1.0/');
  await page.fill('main input[type=search]', 'open_connection');
  await page.keyboard.press('Enter');
  await page.waitForURL(/package=%3Dnetlib_1\.0/);
  const names = await page.locator('.result-package').allInnerTexts();
  assert.ok(names.length > 1);
  assert.deepEqual([...new Set(names)], ['netlib_1.0/']);
}));

test('a version that is gone leads to the current one, and says so', () => withPage({}, async (page) => {
  await page.goto('/p/netlib_0.9/');
  assert.equal(await text(page, 'h1'), 'netlib_1.0');
  assert.match(await text(page, '.notice'), /netlib_0\.9 is not indexed/);
}));

test('what is not searched is listed with its reason and how often that is so', () => withPage({}, async (page) => {
  await page.goto('/search?q=no_such_word_anywhere');
  await page.getByRole('link', { name: 'Files that are not indexed, and why' }).click();
  assert.match(await text(page, '.reasons'), /binary 2/);
  assert.match(await text(page, '.left-out'), /webapp_2\.1 assets\/logo\.png binary/);
  await page.locator('.left-out').getByRole('link', { name: 'webapp_2.1' }).first().click();
  assert.equal(await text(page, 'h1'), 'webapp_2.1');
}));
