// Differences of revisions and packages, both ways, and the menu of versions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text, withPage } from './lib/browser.js';

test('two revisions are compared, unified and side by side, without leaving the keyboard', () => withPage({}, async (page) => {
  await page.goto('/diff?package=tool&from=main~1&to=main');
  assert.match(await text(page, '.changes'), /src\/ring\.c/);
  assert.ok(await page.locator('.diff tr.added').count() > 0);
  await page.keyboard.press('n');
  assert.equal(await page.locator('.diff .change:focus').count(), 1);
  await page.keyboard.press('s');
  await page.waitForURL(/view=split/);
  assert.ok(await page.locator('.diff.split td.added').count() > 0);
  await page.locator('.diff .n a').first().click();
  await page.waitForURL(/\/show\?package=tool.*#L\d+$/);
}));

test('more context comes into the file, and without the script it is a page', () => withPage({}, async (page) => {
  await page.goto('/diff?package=tool&from=main~1&to=main&path=src/ring.c');
  const lines = await page.locator('.diff tr').count();
  const more = page.locator('.diff-tools [data-context]');
  const address = await more.getAttribute('href') ?? '';
  assert.match(address, /context=25$/);
  await more.click();
  await page.locator('.diff-tools [href$="context=200"]').waitFor();
  assert.ok(await page.locator('.diff tr').count() >= lines);
  assert.doesNotMatch(page.url(), /context/);
  await page.goto(address);
  assert.match(await text(page, '.diff'), /ring/);
}));

test('a commit shows its change, with links to the lines', () => withPage({}, async (page) => {
  await page.goto('/commit?repo=tool&rev=main');
  assert.match(await text(page, 'main'), /\d files? changed/);
  await page.getByRole('link', { name: 'As a comparison' }).click();
  await page.waitForURL(/\/diff\?package=tool&from=[0-9a-f]{40}&to=[0-9a-f]{40}/);
}));

test('the menu of versions keeps the line, and compares', () => withPage({}, async (page) => {
  await page.goto('/show?package=tool&path=src/ring.c&rev=main');
  await page.locator('#L2 .number').click();
  await page.locator('#other-version').click();
  await page.locator('.versions summary', { hasText: 'Tags' }).click();
  await page.locator('.versions').getByRole('link', { name: 'v1.0', exact: true }).click();
  await page.waitForURL(/rev=v1\.0.*#L\d+$/);
  assert.equal(await page.locator('.line.hit').count(), 1);
  await page.locator('details.versions > summary').click();
  await page.locator('.versions summary', { hasText: 'Branches' }).click();
  await page.getByRole('link', { name: 'Compare with main' }).click();
  await page.waitForURL(/\/diff\?package=tool&from=main/);
}));

test('B walks past the commit of a line', () => withPage({}, async (page) => {
  await page.goto('/show?package=tool&path=new.c&blame=yes&line=3#L3');
  await page.keyboard.press('B');
  await page.waitForURL(/path=old\.c/);
}));
