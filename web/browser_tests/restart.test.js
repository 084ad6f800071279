// A frontend that is restarted, and a backend whose connection breaks, while people look at pages.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { text, withPage } from './lib/browser.js';
import { startSplit } from './lib/server.js';

/** @type {Awaited<ReturnType<typeof startSplit>>} */
let split;

before(async () => { split = await startSplit(process.env.TRAWL_INDEX ?? ''); });
after(() => split.stop());

/** What a server that is away makes the browser say. */
const AWAY = /ERR_CONNECTION|Failed to (load|fetch)|NetworkError/;

test('a restarted server shows the same page again', async () => {
  await withPage({ baseURL: split.url, allowed: AWAY, mayRun: true }, async (page) => {
    await page.goto('/search?q=open_connection');
    const shown = () => page.locator('main mark').allInnerTexts();
    const linked = async () => {
      // The counts may come after the page.
      await page.locator('#facets:not([data-next-href])').waitFor({ state: 'attached' });
      return page.locator('main a').count();
    };
    const [links, marks] = [await linked(), await shown()];
    await split.restart();
    await page.reload();
    assert.equal(await linked(), links);
    assert.deepEqual(await shown(), marks);
  });
});

test('a running page comes to its answer although the server is restarted meanwhile', async () => {
  await withPage({ baseURL: split.url, allowed: AWAY, mayRun: true }, async (page) => {
    split.gate.slow(100_000);
    await page.goto('/search?q=needle_1+timeout:300');
    await page.locator('#progress').waitFor();
    await split.restart();
    split.gate.open();
    await page.locator('.summary', { hasText: 'matches in' }).first().waitFor();
    assert.match(await text(page, 'main'), /matches in/);
  });
});
