// Twelve tasks of a working day by keyboard alone. Each begins where one usually is, and ends when the right thing is on
// the screen; the table at the end has the keys that were pressed and the seconds until then, without those of a person who
// types.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { focuses, sequence, text, withPage } from './lib/browser.js';
import { writeCorpus } from './lib/corpus.js';
import { buildIndex, start, temporary } from './lib/server.js';

/** @typedef {import('playwright-core').Page} Page */

const CONNECT = `#include "socket.h"

/* Opens a connection. */
int open_connection(const char *host, int port)
{
\treturn try_connect(host, port, RETRIES);
}
`;

/** @type {Record<string, string>} */
const FILES = {
  'netlib_1.0/src/connect.c': CONNECT,
  'netlib_1.1/src/connect.c': CONNECT.replace('RETRIES', 'retries()'),
  'netlib_1.1/src/socket.h': '#define RETRIES 3\nint open_connection(const char *host, int port);\n',
  'netlib_1.1/src/long_options.c': Array.from({ length: 300 }, (_, at) => `int option_${at + 1};`).join('\n') + '\n',
  'netlib_1.1/tests/test_connect.c': '#include "socket.h"\nint main(void) { return open_connection("localhost", 1); }\n',
  'fetcher_2.0/main.c': '#include <socket.h>\nint main(void)\n{\n\treturn open_connection("example.org", 80);\n}\n',
  'fetcher_2.0/vendor/netlib/connect.c': CONNECT.replace('Opens', 'Also opens'),
  'mailer_3.2/smtp.c': '#include <socket.h>\nint greet(void)\n{\n\tint fd = open_connection("mx", 25);\n\treturn fd;\n}\n',
  'mailer_3.2/imap.c': '#include <socket.h>\nint sign_in(void)\n{\n\treturn open_connection("imap", 143);\n}\n',
};

/** @type {Awaited<ReturnType<typeof start>>} */
let server;

before(async () => {
  const directory = temporary();
  const [corpus, index] = [join(directory, 'corpus'), join(directory, 'index')];
  writeCorpus(corpus, FILES);
  buildIndex(corpus, index);
  server = await start(['serve', '--index', index, '--spool', join(directory, 'spool'), '--listen', '127.0.0.1:0']);
});

/** @type {{ name: string, keys: number, seconds: number }[]} */
const done = [];

after(async () => {
  for (const { name, keys, seconds } of done) console.log(`${name.padEnd(52)} ${String(keys).padStart(3)} keys ${seconds.toFixed(2)} s`);
  await server.stop();
});

/** The keyboard of a page, which counts. */
class Keys {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.count = 0;
  }

  /** Presses keys one after the other: names of `KeyboardEvent.key`. @param {string[]} keys */
  async press(...keys) {
    for (const key of keys) {
      this.count += 1;
      await this.page.keyboard.press(key);
    }
  }

  /** Presses keys that belong together. @param {string[]} keys */
  async sequence(...keys) {
    this.count += keys.length;
    await sequence(this.page, ...keys);
  }

  /** @param {string} typed */
  async type(typed) {
    this.count += typed.length;
    await this.page.keyboard.type(typed);
  }
}

/**
 * Does a task on a page.
 * @param {string} name
 * @param {string} from the page where it begins
 * @param {number} keysMax what it may take
 * @param {(keys: Keys, page: Page) => Promise<void>} perform returns when the right thing is on the screen
 */
function task(name, from, keysMax, perform) {
  test(name, () => withPage({
    baseURL: server.url, permissions: ['clipboard-read', 'clipboard-write'],
  }, async (page) => {
    await page.goto(from);
    await page.locator('#show-keys:not([hidden])').waitFor();
    const keys = new Keys(page);
    const started = performance.now();
    await perform(keys, page);
    done.push({ name, keys: keys.count, seconds: (performance.now() - started) / 1000 });
    assert.ok(keys.count <= keysMax, `${keys.count} keys`);
  }));
}

/** @param {Page} page */
const files = async (page) => (await page.locator('.result h2').allInnerTexts()).sort();

/** @param {Page} page @param {string} part */
const shows = (page, part) => page.locator('#main').filter({ hasText: part }).waitFor();

const RESULTS = '/search?q=open_connection';
const FILE = '/show?package=netlib_1.1&path=src/connect.c&line=4#L4';

task('the definition of a function', '/', 17, async (keys, page) => {
  await focuses(page, '#q');
  await keys.type('open_connection');
  await keys.press('Enter');
  await page.waitForURL(/\/search/);
  await keys.press('o');
  await page.waitForURL(/path=src\/connect.c/);
  await page.locator('.line.hit', { hasText: 'int open_connection(const char *host' }).waitFor();
});

task('all callers outside tests', RESULTS, 15, async (keys, page) => {
  await keys.press('/', 'End');
  await keys.type(' -kind:tests');
  await keys.press('Enter');
  await page.waitForURL(/kind/);
  await page.locator('.result').first().waitFor();
  assert.deepEqual((await files(page)).filter((name) => name.includes('test')), []);
  assert.ok((await files(page)).includes('mailer_3.2/smtp.c'));
});

task('a file by half its name', FILE, 10, async (keys, page) => {
  await keys.press('t');
  await keys.type('options');
  await keys.press('Enter');
  await page.waitForURL(/\/search/);
  await keys.press('o');
  await page.waitForURL(/path=src\/long_options.c/);
  await shows(page, 'int option_1;');
});

task('the same file in another version', FILE, 1, async (keys, page) => {
  await keys.press('v');
  await page.waitForURL(/package=netlib_1.0/);
  await shows(page, 'RETRIES');
});

task('a link to ten lines', '/show?package=netlib_1.1&path=src/long_options.c&line=120#L120', 10, async (keys, page) => {
  await keys.press(...Array(9).fill('J'), 'c');
  await page.waitForFunction(() => navigator.clipboard.readText().then((copied) => copied.endsWith('#L120-L129')));
  assert.equal(await page.locator('.line.hit').count(), 10);
});

task('only one package', RESULTS, 4, async (keys, page) => {
  await keys.sequence('f', 'p');
  const name = await page.evaluate(() => document.activeElement?.textContent);
  await keys.press('Enter');
  await page.waitForURL(/package=/);
  await page.locator('.result').first().waitFor();
  for (const file of await files(page)) assert.ok(file.startsWith(`${name}`), `${file} is of ${name}`);
});

task('without vendored code', RESULTS, 6, async (keys, page) => {
  await keys.sequence('f', 'k');
  while (!/vendored/i.test(await page.evaluate(() => document.activeElement?.textContent ?? ''))) await keys.press('ArrowDown');
  await keys.press('-');
  await page.waitForURL(/kind/);
  await page.locator('.result').first().waitFor();
  assert.deepEqual((await files(page)).filter((name) => name.includes('vendor')), []);
});

task('from a match to the raw file', RESULTS, 3, async (keys, page) => {
  await keys.press('j', 'j');
  const path = await page.evaluate(() => document.querySelector('.current')?.closest('.result')?.querySelector('h2')?.textContent);
  await keys.press('r');
  await page.waitForURL(/\/raw\/p\//);
  assert.ok(decodeURIComponent(page.url()).endsWith(`/raw/p/${path}`), `${page.url()} is ${path}`);
});

task('the search before this one', RESULTS, 2, async (keys, page) => {
  await page.goto('/search?q=RETRIES');
  await page.locator('.result').first().waitFor();
  await keys.sequence('g', 'r');
  await page.waitForURL(/q=open_connection/);
});

task('who includes this header', '/show?package=netlib_1.1&path=src/socket.h', 25, async (keys, page) => {
  await keys.press('/');
  await keys.type('/include.*socket\\.h/');
  await keys.press('Enter');
  await page.waitForURL(/\/search/);
  await page.locator('.result').first().waitFor();
  assert.deepEqual(await files(page), [
    'fetcher_2.0/main.c', 'fetcher_2.0/vendor/netlib/connect.c', 'mailer_3.2/imap.c', 'mailer_3.2/smtp.c',
    'netlib_1.0/src/connect.c', 'netlib_1.1/src/connect.c', 'netlib_1.1/tests/test_connect.c',
  ]);
});

task('the third match and back to the same place', RESULTS, 5, async (keys, page) => {
  const current = () => page.evaluate(() => [...document.querySelectorAll('.line.hit')].findIndex((line) => line.matches('.current')));
  await keys.press('j', 'j', 'j', 'Enter');
  await page.waitForURL(/\/show/);
  await page.locator('.line.hit').first().waitFor();
  await keys.press('u');
  await page.waitForURL(/\/search/);
  await page.locator('.line.current').waitFor();
  assert.equal(await current(), 2);
});

task('how many matches one package has', RESULTS, 5, async (keys, page) => {
  const row = () => page.evaluate(() => (document.activeElement?.closest('#facets li')?.textContent ?? '').replace(/\s+/g, ' '));
  await keys.sequence('f', 'p');
  while (!(await row()).startsWith('mailer')) await keys.press('ArrowDown');
  assert.match(await row(), /^mailer_3.2 ?2/);
});
