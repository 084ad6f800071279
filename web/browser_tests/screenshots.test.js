// Pictures of every page, for people to look at: see scripts/tools/screenshots.
import { join } from 'node:path';
import { test } from 'node:test';
import { SITE, withPage } from './lib/browser.js';
import { PAGES } from './lib/pages.js';
import { startSplit } from './lib/server.js';

const directory = process.env.SCREENSHOTS;

/** @type {Record<string, import('playwright-core').BrowserContextOptions>} */
const LOOKS = {
  light: { viewport: { width: 1280, height: 800 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 360, height: 740 } },
  wide: { viewport: { width: 2560, height: 1440 } },
  enlarged: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
};

/**
 * @param {string} name
 * @param {string} path
 * @param {string} [site]
 * @param {(page: import('playwright-core').Page) => Promise<void>} [ready] waits until the page shows what it should
 */
async function picture(name, path, site = SITE, ready = async () => {}) {
  for (const [look, options] of Object.entries(LOOKS)) {
    await withPage({ ...options, baseURL: site, mayRun: site !== SITE }, async (page) => {
      await page.goto(path);
      await ready(page);
      await page.screenshot({ path: join(directory ?? '', `${name}-${look}.png`) });
    });
  }
}

test('pictures of every page', { skip: !directory }, async () => {
  for (const { name, path } of PAGES) await picture(name, path);
});

test('pictures of a running and of an incomplete search', { skip: !directory }, async () => {
  const split = await startSplit(process.env.TRAWL_INDEX ?? '');
  split.gate.slow(60_000);
  try {
    await picture('running', '/search?q=needle+timeout:300', split.url, (page) => page.locator('.result').first().waitFor());
    // An answer that is incomplete is not kept: each page searches again.
    await picture('incomplete', '/search?q=needle+timeout:300&context=1', split.url, async (page) => {
      await page.locator('#stop').waitFor();
      await page.locator('.result').first().waitFor();
      split.gate.cut();
      await page.locator('.banner').waitFor();
    });
  } finally {
    await split.stop();
  }
});
