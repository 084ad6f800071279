// Files of a git repository: blame, history and commits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text, withPage } from './lib/browser.js';

test('each line has its commit, and the blame before it is a click away', () => withPage({}, async (page) => {
  await page.goto('/show?package=tool&path=new.c');
  await page.getByRole('link', { name: 'Blame', exact: true }).click();
  await page.locator('#L3 .blame a').first().waitFor();
  assert.equal(await page.locator('.blame.starts').count(), 3);
  assert.match(await text(page, '#L2 .blame'), /^\d{4}-\d\d-\d\d Ada script/);
  assert.match(await page.locator('#L3 .blame a').first().getAttribute('title') ?? '', /Add int third; <b>/);
  await page.locator('#L3 .blame .before').click();
  await page.waitForURL(/path=old\.c/);
  assert.equal(await page.locator('.line').count(), 2, 'the file as it was');
  await page.getByRole('link', { name: 'Hide blame' }).click();
  await page.waitForURL((url) => !url.search.includes('blame'));
  assert.equal(await page.locator('.blame').count(), 0);
}));

test('blame, history and other revisions keep the line and the query', () => withPage({}, async (page) => {
  await page.goto('/show?package=tool&path=new.c&q=int&line=2#L2');
  await page.locator('#L3 .number').click();
  await page.getByRole('link', { name: 'Blame', exact: true }).click();
  await page.waitForURL(/q=int&blame=yes&line=3#L3$/);
  assert.equal(await page.locator('.line.hit').getAttribute('id'), 'L3');
  await page.getByRole('link', { name: 'History' }).click();
  await page.waitForURL(/log.*line=3/);
  await page.getByRole('link', { name: 'as it was' }).first().click();
  await page.waitForURL(/show.*q=int.*#L3$/);
  assert.equal(await page.locator('#find').inputValue(), 'int');
}));

test('a search in a revision leads to the file in it by its name, and v to another one', () => withPage({}, async (page) => {
  await page.goto('/search?q=ring_push+rev:v1.0+package:tool');
  await page.locator('.result .line.hit .number').first().click();
  await page.waitForURL(/path=src\/ring\.c&rev=v1\.0&q=ring_push/);
  assert.match(await page.locator('.tree h2 a').getAttribute('href') ?? '', /\/p\/tool\/src\/\?rev=v1\.0$/);
  await page.locator('.tree h2 a').click();
  await page.waitForURL(/\/p\/tool\/src\/\?rev=v1\.0$/);
  assert.match(await text(page, '.entries'), /ring\.c/);
  await page.goBack();
  await page.keyboard.press('v');
  await page.waitForURL(/rev=main&q=ring_push.*#L\d+$/);
}));

test('a package is shown in a revision, and one that is unknown says so', () => withPage({}, async (page) => {
  await page.goto('/p/tool/');
  await page.getByRole('link', { name: 'refs/tags/v1.0' }).click();
  await page.waitForURL(/\/p\/tool\/\?rev=v1\.0$/);
  assert.match(await text(page, '.entries'), /src\/ .*new\.c/);
  const answer = await page.goto('/p/tool/?rev=v9');
  assert.equal(answer?.status(), 404);
  assert.match(await text(page, 'main'), /tool has no revision v9/);
}));

test('from a directory to its history', () => withPage({}, async (page) => {
  await page.goto('/p/tool/');
  await page.getByRole('link', { name: 'History', exact: true }).click();
  await page.waitForURL(/\/log\?repo=tool&rev=/);
  assert.match(await text(page, '.commits'), /Add int third; <b>/);
}));

test('from a file to its history, to a commit, and to the file as it was', () => withPage({}, async (page) => {
  await page.goto('/show?package=tool&path=new.c');
  await page.getByRole('link', { name: 'History' }).click();
  assert.match(await text(page, '.commits'), /Add int third; <b>/);
  await page.getByRole('link', { name: 'Add int third; <b>' }).click();
  assert.equal(await text(page, 'h1'), 'Add int third; <b>');
  assert.match(await text(page, '.message'), /Because of <i>\./);
  assert.match(await text(page, '.changes'), /old\.c → new\.c renamed/);
  await page.locator('.diff .n a').first().click();
  await page.waitForURL(/path=old\.c&rev=.*#L1$/);
  assert.equal(await page.locator('.line').count(), 2);
}));
