// What holds for every page: accessibility in both schemes, narrow and enlarged windows, and no script.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violations } from './lib/axe.js';
import { tooWide, withPage } from './lib/browser.js';
import { PAGES } from './lib/pages.js';

/**
 * Looks at every page, and returns what is wrong with each.
 * @param {import('playwright-core').BrowserContextOptions} options
 * @param {(page: import('playwright-core').Page) => Promise<string[]>} faults
 */
async function faultsOfPages(options, faults) {
  /** @type {Record<string, string[]>} */
  const found = {};
  await withPage(options, async (page) => {
    for (const { name, path } of PAGES) {
      await page.goto(path);
      const here = await faults(page);
      if (here.length > 0) found[name] = here;
    }
  });
  return found;
}

test('axe finds nothing on any page, in light and in dark colours', async () => {
  assert.deepEqual(await faultsOfPages({}, async (page) => {
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await violations(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    return [...light, ...await violations(page, ['color-contrast', 'link-in-text-block'])];
  }), {});
});

test('no page scrolls sideways on a phone of 360 pixels', async () => {
  const phone = { viewport: { width: 360, height: 740 } };
  assert.deepEqual(await faultsOfPages(phone, tooWide), {});
});

test('no page scrolls sideways when it is enlarged to 200 %', async () => {
  const enlarged = { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 };
  assert.deepEqual(await faultsOfPages(enlarged, tooWide), {});
});

test('every page has its content without a script', async () => {
  assert.deepEqual(await faultsOfPages({ javaScriptEnabled: false }, async (page) => {
    const counts = [await page.locator('h1').count(), await page.locator('main').count()];
    const words = (await page.locator('main').innerText()).length;
    return counts.join() === '1,1' && words > 10 ? [] : [`h1, main: ${counts}; ${words} characters`];
  }), {});
});

test('one file alone delays the first paint of each page', async () => {
  assert.deepEqual(await faultsOfPages({}, async (page) => {
    const blocking = await page.evaluate(() => performance.getEntriesByType('resource')
      .filter((entry) => /** @type {any} */ (entry).renderBlockingStatus === 'blocking')
      .map((entry) => entry.name.split('/').pop() ?? ''));
    return blocking.join() === 'style.css' ? [] : blocking;
  }), {});
});
