// A server that is shown below a path of another site: every address of its pages and of its scripts is below that path.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { completed, sequence, text, withPage } from './lib/browser.js';
import { start, temporary } from './lib/server.js';

const PREFIX = '/tools/code';

/** @type {Awaited<ReturnType<typeof start>>} */
let server;

before(async () => {
  server = await start([
    'serve', '--index', process.env.TRAWL_INDEX ?? '', '--spool', join(temporary(), 'spool'), '--listen', '127.0.0.1:0',
    '--base-path', PREFIX,
  ]);
});
after(() => server.stop());

test('searching, narrowing and reading stay below the path', () => withPage({ baseURL: server.url }, async (page) => {
  /** @type {string[]} */
  const outside = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith(`${PREFIX}/`)) outside.push(pathname);
  });
  const answers = page.waitForResponse(/\/complete\?/);
  await page.goto(`${PREFIX}/`);
  await page.locator('#q').pressSequentially('needle la');
  assert.equal((await answers).status(), 200);
  await completed(page);
  assert.equal(await page.getByRole('option', { name: /^lang:/ }).count(), 1);
  await page.locator('#q').fill('needle');
  await page.keyboard.press('Enter');
  await page.locator('nav.pages').waitFor();
  await page.locator('.result a[data-more]').first().click();
  await page.locator('.result').first().locator('.hit').nth(99).waitFor();
  await page.getByRole('link', { name: 'C', exact: true }).click();
  await page.waitForURL(/lang=C/);
  await page.locator('.result .number').first().click();
  await page.waitForURL(/\/show\?/);
  await page.keyboard.press('y');
  assert.ok(new URL(page.url()).pathname.startsWith(PREFIX), page.url());
  await page.reload();
  assert.match(await text(page, '#lines'), /needle/);
  await sequence(page, 'g', 'h');
  await page.waitForURL((url) => url.pathname === `${PREFIX}/`);
  await page.goto(`${PREFIX}/search?q=`);
  assert.equal(new URL(page.url()).pathname, `${PREFIX}/`, 'an empty query leads to the start page');
  assert.deepEqual(outside, []);
}));
