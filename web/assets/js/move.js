// @ts-check
// Keys that go from match to match on a page of results, open one, and change how results are grouped. Who comes back to
// the page goes on at the match that was the current one.
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

/** Where the current match is kept while another page is shown. */
const KEPT = 'trawl-match';

/** Keeps which match is the current one. */
function keep() {
  const match = current?.isConnected ? linkOf(current)?.getAttribute('href') : null;
  try {
    if (match) sessionStorage.setItem(KEPT, JSON.stringify({ page: location.href, match }));
  } catch {
    // The browser keeps nothing: then the first match is the next one.
  }
}

/** Marks the match that was the current one when the page was left. */
function restore() {
  if (current) return;
  const [navigation] = performance.getEntriesByType('navigation');
  if (/** @type {any} */ (navigation)?.type !== 'back_forward') return;
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
    if (kept?.page !== location.href) return;
    const match = matches().find((each) => linkOf(each)?.getAttribute('href') === kept.match);
    if (match) mark(match);
  } catch {
    // Nothing is kept.
  }
}

function raw() {
  const box = current?.isConnected ? current.closest('.result') : document.querySelector('.result');
  const link = box?.querySelector('.result-tools a');
  if (link instanceof HTMLAnchorElement) link.click();
}

/** @param {number} tab */
function group(tab) {
  const link = document.querySelectorAll('.tabs a')[tab];
  if (link instanceof HTMLAnchorElement) link.click();
}

/**
 * Follows a click anywhere on a line, unless it ends a selection of text.
 * @param {MouseEvent} event
 */
function followLine(event) {
  const target = event.target instanceof Element ? event.target : null;
  const link = target?.closest('.result .line')?.querySelector('a.number');
  if (!link || target?.closest('a') || getSelection()?.isCollapsed === false) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }));
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
  register('r', 'The file as it is (raw)', raw);
  restore();
  document.addEventListener('trawl:content', restore);
  addEventListener('pagehide', keep);
  // A match that the mouse opens is the current one, too.
  document.addEventListener('click', (event) => {
    const line = event.target instanceof Element ? event.target.closest('.result .line.hit') : null;
    if (line instanceof HTMLElement) current = line;
  });
  document.addEventListener('click', followLine);
  register('g f', 'Results by file', () => group(0));
  register('g l', 'Results by line', () => group(1));
  register('g p', 'Results by package', () => group(2));
  for (const [key, rel, label] of [[']', 'next', 'Next page'], ['[', 'prev', 'Page before']]) {
    register(key, label, () => {
      /** @type {HTMLElement | null} */ (document.querySelector(`.pages a[rel=${rel}]`))?.click();
    });
  }
}
