// Every link of our pages leads somewhere: 2,000 of them, of every kind, are followed as browsers follow them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { get } from './lib/http.js';
import { SITE } from './lib/browser.js';
import { PAGES } from './lib/pages.js';

const LINKS_MAX = 2000;

/** Requests at once. */
const TOGETHER = 4;

/** Time for all of them on a machine that does other work, too. */
const TIME_MAX_MS = 15 * 60_000;

/** Pages that say that something is not there. */
const MISSING = ['bad-query', 'no-such-page', 'binary', 'missing', 'no-such-file'];

/** Links that wait, by kind: what their addresses have in common. */
class Queue {
  constructor() {
    /** @type {Map<string, string[]>} */
    this.kinds = new Map();
    this.known = new Set();
  }

  /** @param {URL} url */
  add(url) {
    const address = url.pathname + url.search;
    if (url.origin !== SITE || this.known.has(address)) return;
    this.known.add(address);
    const names = [...new Set(url.searchParams.keys())].sort();
    const kind = [url.pathname.split('/')[1], url.pathname.split('/')[2] && url.pathname.endsWith('/'), ...names].join();
    const waiting = this.kinds.get(kind);
    if (waiting) waiting.push(address);
    else this.kinds.set(kind, [address]);
  }

  /** Takes a link of the kind that has waited longest, so that all kinds have their turn. */
  take() {
    for (const [kind, waiting] of this.kinds) {
      const address = waiting.shift();
      this.kinds.delete(kind);
      if (waiting.length > 0) this.kinds.set(kind, waiting);
      if (address) return address;
    }
    return undefined;
  }
}

const ENTITIES = /** @type {Record<string, string>} */ ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' });

/** @param {string} value of an attribute */
function decoded(value) {
  return value.replace(/&(#(\d+)|\w+);/g, (entity, _, code) => (code ? String.fromCodePoint(Number(code)) : ENTITIES[entity] ?? entity));
}

/** @param {string} html @param {RegExp} pattern */
const values = (html, pattern) => [...html.matchAll(pattern)].map(([, value]) => decoded(value));

/**
 * Returns the faults of a page in itself.
 * @param {string} html
 */
function faults(html) {
  const ids = values(html, /<[a-z][^<>]* id="([^"]*)"/g);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  const fragments = values(html, /<a [^<>]*href="#([^"]+)"/g).filter((id) => !ids.includes(id));
  return [
    ...twice.map((id) => `id ${id} is there twice`),
    ...[...new Set(fragments)].map((id) => `#${id} is not there`),
    ...(html.trimEnd().endsWith('</html>') ? [] : ['the page is not whole']),
  ];
}

test('no link leads nowhere, and every page is whole', async () => {
  const queue = new Queue();
  for (const { name, path } of PAGES) if (!MISSING.includes(name)) queue.add(new URL(path, SITE));
  /** @type {string[]} */
  const wrong = [];
  const began = performance.now();
  let followed = 0;
  const follow = async () => {
    for (let address = queue.take(); address && followed < LINKS_MAX; address = queue.take()) {
      followed += 1;
      assert.ok(performance.now() - began < TIME_MAX_MS, `${followed} links took too long`);
      const url = new URL(address, SITE);
      const { status, headers, body } = await get(url);
      if (status >= 400) wrong.push(`${status} ${address}`);
      if (headers.location) queue.add(new URL(headers.location, url));
      if (status >= 300 || !headers['content-type']?.startsWith('text/html')) continue;
      const html = body.toString();
      wrong.push(...faults(html).map((fault) => `${address}: ${fault}`));
      for (const href of values(html, /<[a-z][^<>]* (?:href|src)="([^"]*)"/g)) queue.add(new URL(href, url));
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, follow));
  assert.deepEqual(wrong, []);
  assert.equal(followed, LINKS_MAX);
});
