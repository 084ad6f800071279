// Pages in the browser that the runner has started. What no page may do fails the test that opened it: an exception,
// a violation of the policy, or a request to another server.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { chromium } from 'playwright-core';

/** The server with the corpus of `corpus.js` and the repository of `repository.js`. */
export const SITE = process.env.TRAWL_SITE ?? '';

/** How long a test waits for what should appear: other work may stop a machine for a while. */
const WAIT_MS = 120_000;

/** @type {Promise<import('playwright-core').Browser> | undefined} */
let browser;

function connected() {
  browser ??= chromium.connect(process.env.TRAWL_BROWSER ?? '');
  return browser;
}

after(async () => (await browser)?.close());

/**
 * Opens an empty page, calls `use`, and checks that the page did nothing wrong.
 * @param {import('playwright-core').BrowserContextOptions & { allowed?: RegExp, mayRun?: boolean }} options `allowed`:
 *   messages of the console that are no fault; `mayRun`: a new page may show a search that runs, else the test waits for
 *   its end, which takes a while on a busy machine
 * @param {(page: import('playwright-core').Page) => Promise<void>} use
 */
export async function withPage(options, use) {
  const { allowed, mayRun, ...rest } = options;
  const context = await (await connected()).newContext({
    baseURL: SITE, viewport: { width: 1280, height: 900 }, ...rest,
  });
  context.setDefaultTimeout(WAIT_MS);
  const own = new URL(rest.baseURL ?? SITE).origin;
  /** @type {string[]} */
  const faults = [];
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== own && protocol !== 'blob:' && protocol !== 'data:') faults.push(`request to ${request.url()}`);
  });
  context.on('weberror', (error) => faults.push(`exception: ${error.error()}`));
  context.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  context.on('console', (message) => {
    const isExpected = allowed?.test(message.text()) || /status of (4|5)\d\d/.test(message.text());
    if (message.type() === 'error' && !isExpected) faults.push(`console: ${message.text()}`);
  });
  try {
    const page = await context.newPage();
    if (!mayRun) waitForEnds(page);
    await use(page);
  } finally {
    await context.close();
  }
  assert.deepEqual(faults, []);
}

/**
 * Whatever leads to a page also waits for the end of the search that it shows.
 * @param {any} page
 */
function waitForEnds(page) {
  for (const name of ['goto', 'reload', 'goBack', 'goForward', 'waitForURL']) {
    const before = page[name].bind(page);
    page[name] = async (/** @type {any[]} */ ...given) => {
      const result = await before(...given);
      await page.locator('#progress').waitFor({ state: 'detached' });
      return result;
    };
  }
}

/**
 * Waits until the completions below the search box are those of all that was typed.
 * @param {import('playwright-core').Page} page
 */
export async function completed(page) {
  await page.locator('#completions[aria-busy=false]').waitFor({ state: 'attached' });
}

/**
 * Waits for a completion, and asks again while it is left out: names are if finding them takes too long.
 * @param {import('playwright-core').Page} page
 * @param {RegExp} name
 */
export async function completesTo(page, name) {
  await completed(page);
  while (await page.getByRole('option', { name }).count() === 0) {
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowDown');
    await completed(page);
  }
}

/**
 * Presses keys that belong together. The page forgets the first one after a while, so none waits until another has been
 * handled.
 * @param {import('playwright-core').Page} page
 * @param {string[]} keys
 */
export async function sequence(page, ...keys) {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

/**
 * Waits until an element has the focus.
 * @param {import('playwright-core').Page} page
 * @param {string} selector
 */
export async function focuses(page, selector) {
  await page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector);
}

/**
 * What stands in a place of the page, without runs of blanks.
 * @param {import('playwright-core').Page} page
 * @param {string} selector
 */
export async function text(page, selector) {
  const found = await page.locator(selector).first().innerText();
  return found.replace(/\s+/g, ' ').trim();
}

/**
 * Whether the page scrolls sideways, and what is wider than the window.
 * @param {import('playwright-core').Page} page
 */
export async function tooWide(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const scrolls = (/** @type {Element} */ element) => {
      for (let at = element.parentElement; at; at = at.parentElement) {
        if (getComputedStyle(at).overflowX !== 'visible') return true;
      }
      return false;
    };
    const all = [...document.body.querySelectorAll('*')];
    const wide = all.filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element));
    return ['the page', ...wide.map((element) => `${element.tagName}.${element.className}`)];
  });
}
