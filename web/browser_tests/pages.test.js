// What holds for every page: accessibility in both schemes, narrow and enlarged windows, and no script.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violations } from './lib/axe.js';
import { tooWide, withPage } from './lib/browser.js';
import { PAGES } from './lib/pages.js';

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`axe finds nothing on any page in ${colorScheme} colours`, async () => {
    await withPage({ colorScheme }, async (page) => {
      for (const { name, path } of PAGES) {
        await page.goto(path);
        assert.deepEqual(await violations(page), [], name);
      }
    });
  });
}

test('no page scrolls sideways on a phone of 360 pixels', async () => {
  await withPage({ viewport: { width: 360, height: 740 } }, async (page) => {
    for (const { name, path } of PAGES) {
      await page.goto(path);
      assert.deepEqual(await tooWide(page), [], name);
    }
  });
});

test('no page scrolls sideways when it is enlarged to 200 %', async () => {
  await withPage({ viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }, async (page) => {
    for (const { name, path } of PAGES) {
      await page.goto(path);
      assert.deepEqual(await tooWide(page), [], name);
    }
  });
});

test('every page has its content without a script', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    for (const { name, path } of PAGES) {
      await page.goto(path);
      assert.equal(await page.locator('h1').count(), 1, name);
      assert.equal(await page.locator('main').count(), 1, name);
      assert.ok((await page.locator('main').innerText()).length > 10, name);
    }
  });
});

test('one file alone delays the first paint of each page', async () => {
  await withPage({}, async (page) => {
    for (const { name, path } of PAGES) {
      await page.goto(path);
      const blocking = await page.evaluate(() => performance.getEntriesByType('resource')
        .filter((entry) => /** @type {any} */ (entry).renderBlockingStatus === 'blocking')
        .map((entry) => entry.name.split('/').pop()));
      assert.deepEqual(blocking, ['style.css'], name);
    }
  });
});
