// Searches that run: boxes that do not move, stopping, connections that break, and a server that restarts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { focuses, text, withPage } from './lib/browser.js';
import { startSplit } from './lib/server.js';

/** @type {Awaited<ReturnType<typeof startSplit>>} */
let server;

before(async () => { server = await startSplit(process.env.TRAWL_INDEX ?? ''); });
after(() => server.stop());

/** Every test has a query of its own: an answer that was found once is there at once. */
let queries = 0;

/**
 * Opens a page of a search that runs until `server.gate.open()`.
 * @param {(page: import('playwright-core').Page) => Promise<void>} use
 * @param {import('playwright-core').BrowserContextOptions & { allowed?: RegExp }} [options]
 */
async function withRunning(use, options = {}) {
  queries += 1;
  server.gate.slow(60_000);
  try {
    await withPage({ baseURL: server.url, mayRun: true, ...options }, async (page) => {
      await page.goto(`/search?q=needle+-nothing${queries}+timeout:300`);
      await page.locator('#stop').waitFor();
      await page.locator('.result').first().waitFor();
      await use(page);
    });
  } finally {
    server.gate.open();
  }
}

/** Changes of the count during which the boxes are looked at. */
const NEWS = 3;

/** @param {import('playwright-core').Page} page */
const names = (page) => page.locator('.result h2').allInnerTexts();

test('boxes are filled while the search runs and none of them moves', async () => {
  await withRunning(async (page) => {
    const first = await names(page);
    await page.evaluate(() => {
      const shifts = /** @type {any} */ (window);
      shifts.moved = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.moved += /** @type {any} */ (entry).value;
      }).observe({ type: 'layout-shift', buffered: false });
    });
    for (let news = 0; news < NEWS; news += 1) {
      const count = await page.locator('#count').textContent();
      await page.waitForFunction((was) => document.getElementById('count')?.textContent !== was, count);
    }
    assert.deepEqual((await names(page)).slice(0, first.length), first);
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).moved), 0);
  });
});

test('the answer takes the place of the boxes when nobody reads them', async () => {
  await withRunning(async (page) => {
    server.gate.open();
    await page.locator('nav.pages').waitFor();
    assert.match(await text(page, '.summary'), /^30,000 matches in 60 files of 6 packages/);
    // Screen readers are told.
    await page.locator('#said', { hasText: '30,000 matches' }).waitFor({ state: 'attached' });
    assert.equal(await page.locator('#stop').count(), 0);
    assert.equal(await page.locator('.result').count(), 10);
  });
});

test('the focus stays on a count beside the results when the answer comes', async () => {
  await withRunning(async (page) => {
    const language = page.locator('section[aria-labelledby=by-lang] a.only');
    await language.first().focus();
    server.gate.open();
    await page.locator('nav.pages').waitFor();
    await focuses(page, 'section[aria-labelledby=by-lang] a.only');
  });
});

test('the answer waits behind a button while somebody reads', async () => {
  await withRunning(async (page) => {
    await page.locator('.result .code').first().hover();
    const seen = await names(page);
    server.gate.open();
    const button = page.locator('button', { hasText: 'Show the results' });
    await button.waitFor();
    assert.deepEqual((await names(page)).slice(0, seen.length), seen);
    assert.match(await text(page, '.summary'), /^30,000 matches/);
    await button.click();
    await page.locator('nav.pages').waitFor();
  });
});

test('a stopped search says how many there were, and continues', async () => {
  await withRunning(async (page) => {
    await page.locator('#stop').click();
    const banner = page.locator('.banner');
    await banner.waitFor();
    assert.match(await banner.innerText(), /Stopped by you: [\d,]+ so far/);
    // It was on the button.
    await focuses(page, '#main');
    server.gate.open();
    await page.locator('a.action', { hasText: 'Continue' }).click();
    await page.locator('nav.pages').waitFor();
    assert.match(await text(page, '.summary'), /^30,000 matches/);
  });
});

test('without a script the page reloads until the answer is there', async () => {
  server.gate.slow(60_000);
  queries += 1;
  await withPage({ baseURL: server.url, javaScriptEnabled: false, mayRun: true }, async (page) => {
    await page.goto(`/search?q=needle+-nothing${queries}+timeout:300`);
    assert.match(await text(page, '.summary'), /so far/);
    server.gate.open();
    await page.waitForSelector('nav.pages');
    assert.match(await text(page, '.summary'), /^30,000 matches/);
  });
  server.gate.open();
});

test('a page follows its search again after the server was restarted', async () => {
  const allowed = /ERR_|Failed to load resource|EventSource/;
  await withRunning(async (page) => {
    await server.restart(async () => {
      await page.waitForFunction(() => /again/.test(document.getElementById('left')?.textContent ?? ''));
    });
    server.gate.open();
    await page.locator('nav.pages').waitFor();
    assert.match(await text(page, '.summary'), /^30,000 matches/);
  }, { allowed });
});
