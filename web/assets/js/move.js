// @ts-check
// Keys that go from match to match on a page of results, open one, and change how results are grouped.
import { register } from './keys.js';

/** @type {HTMLElement | null} */
let current = null;

/** The lines that match, or the boxes of files that match by their name. */
function matches() {
  const found = document.querySelectorAll('.result .line.hit, .result:not(:has(.line))');
  return /** @type {HTMLElement[]} */ ([...found]);
}

/** @param {number} by */
function step(by) {
  const all = matches();
  if (all.length === 0) return;
  const at = current && current.isConnected ? all.indexOf(current) : -1;
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
  if (next < 0 || next >= all.length) return;
  mark(all[next]);
}

/** @param {HTMLElement} match */
function mark(match) {
  current?.classList.remove('current');
  current = match;
  match.classList.add('current');
  const link = /** @type {HTMLElement | null} */ (linkOf(match));
  link?.focus({ preventScroll: true });
  match.scrollIntoView({ block: 'nearest' });
}

/** @param {HTMLElement} match */
function linkOf(match) {
  return match.querySelector('a.number') ?? match.querySelector('a[data-open]');
}

function open() {
  const link = current?.isConnected ? linkOf(current) : document.querySelector('.result a[data-open]');
  if (link instanceof HTMLAnchorElement) link.click();
}

/** @param {number} tab */
function group(tab) {
  const link = document.querySelectorAll('.tabs a')[tab];
  if (link instanceof HTMLAnchorElement) link.click();
}

export function start() {
  if (!document.body.classList.contains('results')) return;
  register('j', 'Next match', () => step(1));
  register('k', 'Match before', () => step(-1));
  register('o', 'Open the match (or Enter)', open);
  register('m', 'More of the file at the match', () => {
    const more = current?.closest('.result')?.querySelector('a[data-more]');
    if (more instanceof HTMLAnchorElement) more.click();
  });
  register('g f', 'Results by file', () => group(0));
  register('g l', 'Results by line', () => group(1));
  register('g p', 'Results by package', () => group(2));
  for (const [key, rel, label] of [[']', 'next', 'Next page'], ['[', 'prev', 'Page before']]) {
    register(key, label, () => {
      /** @type {HTMLElement | null} */ (document.querySelector(`.pages a[rel=${rel}]`))?.click();
    });
  }
}
