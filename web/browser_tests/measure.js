// Measures searches in a browser, for `scripts/bench/bench web`: from Enter to the first match on the screen, and what
// the page does until the search is over.
//
// usage: node measure.js URL QUERIES, with QUERIES [[typed, mode], …]; prints a JSON list of measurements.
import { chromium } from 'playwright-core';

/** How long a search may take. */
const SEARCH_MS = 60_000;

/** Runs in each page before its own scripts: notes when the first match (or that there is none) is drawn, long tasks and shifts. */
function watch() {
  const seen = { first: 0, task: 0, shift: 0 };
  Object.assign(window, { seen });
  addEventListener('keydown', (event) => {
    if (event.key === 'Enter') sessionStorage.setItem('pressed', String(Date.now()));
  }, true);
  const look = () => {
    if (document.querySelector('main mark, main .nothing')) {
      // This frame draws it.
      setTimeout(() => { seen.first = Date.now(); });
    } else {
      requestAnimationFrame(look);
    }
  };
  look();
  const observe = (/** @type {string} */ type, /** @type {(entry: any) => void} */ note) => {
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  };
  observe('longtask', (entry) => { seen.task = Math.max(seen.task, entry.duration); });
  observe('layout-shift', (entry) => { if (seen.first > 0 && !entry.hadRecentInput) seen.shift += entry.value; });
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {string} typed
 * @param {string} mode
 */
async function measure(browser, url, typed, mode) {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(SEARCH_MS);
  await context.addInitScript(watch);
  const page = await context.newPage();
  await page.goto('/');
  await page.locator('select[name=mode]').selectOption(mode);
  await page.locator('#q').fill(typed);
  await page.locator('#q').press('Enter');
  await page.waitForFunction(() => /** @type {any} */ (window).seen?.first > 0 && location.pathname === '/search');
  const session = await context.newCDPSession(page);
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const before = await heap();
  await page.waitForFunction(() => !document.querySelector('progress'));
  const after = await heap();
  const seen = await page.evaluate(() => {
    const { seen } = /** @type {any} */ (window);
    return { ...seen, pressed: Number(sessionStorage.getItem('pressed')) };
  });
  await context.close();
  return {
    first_ms: seen.first - seen.pressed,
    task_ms: seen.task,
    shift: seen.shift,
    heap_bytes: after - before,
  };
}

const [url, queries] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
const results = [];
// The first page starts processes of the browser.
for (const [typed, mode] of [['no_such_word_anywhere_1', 'keyword']]) {
  const page = await browser.newPage({ baseURL: url });
  await page.goto(`/search?q=${typed}&mode=${mode}`);
  await page.close();
}
for (const [typed, mode] of JSON.parse(queries)) results.push(await measure(browser, url, typed, mode));
await browser.close();
console.log(JSON.stringify(results));
