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
  assert.match(await text(page, '.changes'), /new\.c added.*old\.c removed/);
  await page.locator('.changes').getByRole('link', { name: 'old.c', exact: true }).click();
  await page.waitForURL(/path=old\.c&rev=/);
  assert.equal(await page.locator('.line').count(), 2);
}));
