// What holds for every page: accessibility in both schemes, narrow and enlarged windows, and no script.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { violations } from './lib/axe.js';
import { completed, tooWide, withPage } from './lib/browser.js';
import { PAGES } from './lib/pages.js';
import { startSplit } from './lib/server.js';

/** Pages that are looked at at once. */
const TOGETHER = 3;

/**
 * Looks at every page, and returns what is wrong with each.
 * @param {import('playwright-core').BrowserContextOptions} options
 * @param {(page: import('playwright-core').Page) => Promise<string[]>} faults
 */
async function faultsOfPages(options, faults) {
  /** @type {Record<string, string[]>} */
  const found = {};
  const shares = Array.from({ length: TOGETHER }, (_, share) => PAGES.filter((_, at) => at % TOGETHER === share));
  await Promise.all(shares.map((share) => withPage(options, async (page) => {
    for (const { name, path } of share) {
      await page.goto(path);
      const here = await faults(page);
      if (here.length > 0) found[name] = here;
    }
  })));
  return found;
}

/**
 * Asks axe in both schemes. Those rules alone that look at colours can differ in the second.
 * @param {import('playwright-core').Page} page
 */
async function violationsInBothSchemes(page) {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...light, ...await violations(page, ['color-contrast', 'link-in-text-block'])];
}

test('axe finds nothing on any page, in light and in dark colours', async () => {
  assert.deepEqual(await faultsOfPages({}, violationsInBothSchemes), {});
});

test('pages of a search that runs and of an answer that is incomplete are accessible and fit a phone', async () => {
  const split = await startSplit(process.env.TRAWL_INDEX ?? '');
  try {
    await withPage({ baseURL: split.url, mayRun: true }, async (page) => {
      split.gate.slow(60_000);
      await page.goto('/search?q=needle+timeout:300');
      await page.locator('#stop').waitFor();
      await page.locator('.result').first().waitFor();
      assert.deepEqual(await violationsInBothSchemes(page), [], 'running');
      await page.setViewportSize({ width: 360, height: 740 });
      assert.deepEqual(await tooWide(page), [], 'running');
      split.gate.cut();
      await page.locator('.banner').waitFor();
      assert.match(await page.locator('.banner').innerText(), /This answer is incomplete[^]*Search again/);
      assert.deepEqual(await tooWide(page), [], 'incomplete');
      await page.setViewportSize({ width: 1280, height: 900 });
      assert.deepEqual(await violationsInBothSchemes(page), [], 'incomplete');
    });
  } finally {
    await split.stop();
  }
});

test('the list of keys and the completions are accessible while they are open', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=open_connection');
    await page.keyboard.press('?');
    await page.locator('#keys').waitFor();
    assert.deepEqual(await violationsInBothSchemes(page), [], 'keys');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('lan');
    await completed(page);
    assert.ok(await page.getByRole('option').count() > 0);
    assert.deepEqual(await violationsInBothSchemes(page), [], 'completions');
  });
});

test('wide screens are used up to 3,840 pixels', async () => {
  const wide = { viewport: { width: 3840, height: 2160 } };
  await withPage(wide, async (page) => {
    const names = ['many-results', 'file', 'blame', 'history', 'commit', 'help', 'api'];
    for (const { path } of PAGES.filter(({ name }) => names.includes(name))) {
      await page.goto(path);
      const right = await page.locator('main').evaluate((main) => {
        const shown = [...main.querySelectorAll('*')].map((element) => element.getBoundingClientRect());
        return Math.max(...shown.filter((place) => place.height > 0).map((place) => place.right));
      });
      assert.ok(right > (2 / 3) * 3840, `${path} ends at ${right}`);
      assert.deepEqual(await tooWide(page), [], path);
    }
  });
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

test('style and scripts have at most 60 kB compressed', () => withPage({}, async (page) => {
  await page.goto('/search?q=needle');
  await page.locator('nav.pages').waitFor();
  const loaded = () => page.evaluate(() => performance.getEntriesByType('resource')
    .map(({ name }) => name).filter((name) => name.includes('/assets/')));
  const all = await loaded();
  assert.ok(all.some((name) => name.endsWith('/running.js')), `${all}`);
  const sizes = await Promise.all(all.map(async (name) => gzipSync(await (await page.request.get(name)).body()).length));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes > 10_000 && bytes <= 60_000, `${bytes} bytes`);
}));
