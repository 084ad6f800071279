// The form that asks for a key, on a server that needs one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { violations } from './lib/axe.js';
import { focuses, text, tooWide, withPage } from './lib/browser.js';
import { TRAWL, start, temporary } from './lib/server.js';

/** @type {Awaited<ReturnType<typeof start>>} */
let server;
let key = '';

before(async () => {
  const directory = temporary();
  const made = spawnSync(TRAWL, ['key', 'ada'], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const lines = made.stdout.trim().split('\n');
  key = lines[0];
  writeFileSync(join(directory, 'keys'), `${lines[1]}\n`);
  server = await start([
    'serve', '--index', process.env.TRAWL_INDEX ?? '', '--spool', join(directory, 'spool'), '--listen', '127.0.0.1:0',
    '--api-keys', join(directory, 'keys'), '--require-key',
  ]);
});
after(() => server.stop());

test('a key is asked for once, by keyboard, and the page comes that was wanted', () => withPage({ baseURL: server.url }, async (page) => {
  await page.goto('/search?q=open_connection');
  assert.equal(await text(page, 'h1'), 'A key is needed');
  assert.deepEqual(await violations(page), []);
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.deepEqual(await violations(page, ['color-contrast', 'link-in-text-block']), []);
  await focuses(page, '#key');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.locator('#fault').waitFor();
  await focuses(page, '#key');
  await page.setViewportSize({ width: 360, height: 740 });
  assert.deepEqual(await tooWide(page), []);
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/search\?q=open_connection/);
  assert.match(await text(page, 'main mark'), /open_connection/);
  await page.goto('/show?package=netlib_1.0&path=src/socket.c&line=6');
  await page.locator('#show-keys:not([hidden])').waitFor();
  await page.keyboard.press('.');
  await page.locator('.card[open] .definition').first().waitFor();
  await page.keyboard.press('Escape');
  await page.context().clearCookies();
  await page.keyboard.press('.');
  await page.waitForURL(/\/symbol\?/);
  assert.equal(await text(page, 'h1'), 'A key is needed');
  await page.locator('#key').fill(key);
  await page.keyboard.press('Enter');
  await page.locator('.symbol').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto('/');
  assert.equal(await text(page, 'h1'), 'A key is needed');
}));
