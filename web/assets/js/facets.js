// @ts-check
// The counts beside the results: keys that narrow the search by them. While it runs they are asked for again every second,
// until they are final.

import { fetchPage } from './fragment.js';
import { register } from './keys.js';
import { replace } from './replace.js';

const EVERY_MS = 1000;

/** How often in a row a request may fail before the counts are left as they are. */
const FAILURES_MAX = 5;

/** Keys that go to the lists. */
const LISTS = [
  ['f p', 'package', 'Narrow by package (arrows; Enter: only it, Space: it too, -: leave out)'],
  ['f l', 'lang', 'Narrow by language'],
  ['f d', 'path', 'Narrow by directory'],
  ['f k', 'kind', 'Narrow by kind of file'],
  ['f s', 'symbol', 'Narrow by kind of symbol'],
];

/** Whether counts are asked for. */
let isFollowing = false;

export function start() {
  follow(0);
  // The page of an answer has taken the place of the one that was followed.
  document.addEventListener('trawl:content', () => { if (!isFollowing) follow(0); });
  if (!document.getElementById('facets')) return;
  for (const [key, list, label] of LISTS) register(key, label, () => enter(list));
  document.addEventListener('change', tick);
  document.addEventListener('keydown', choose);
}

/**
 * Searches with the values that are ticked.
 * @param {Event} event
 */
function tick(event) {
  const box = event.target instanceof HTMLInputElement ? event.target : null;
  if (box?.closest('#facets')) box.form?.requestSubmit();
}

/**
 * Focuses the first value of a list.
 * @param {string} list
 */
function enter(list) {
  const section = document.querySelector(`#facets section[aria-labelledby=by-${list}]`);
  section?.closest('details')?.setAttribute('open', '');
  const first = section?.querySelector('a.only');
  if (first instanceof HTMLElement) first.focus();
}

/**
 * Goes from value to value with the arrows, ticks one, and leaves one out.
 * @param {KeyboardEvent} event
 */
function choose(event) {
  const value = event.target instanceof Element ? event.target.closest('#facets a.only') : null;
  if (!value || event.ctrlKey || event.altKey || event.metaKey) return;
  let next = null;
  if (event.key === ' ') next = value.closest('li')?.querySelector('input');
  if (event.key === '-') next = value.closest('li')?.querySelector('a.others');
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const values = [...document.querySelectorAll('#facets a.only')].filter((each) => each.checkVisibility());
    next = values[values.indexOf(value) + (event.key === 'ArrowDown' ? 1 : -1)];
  }
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  if (event.key === '-' || event.key === ' ') next.click();
  else next.focus();
}

/** @param {number} failures */
function follow(failures) {
  const facets = document.getElementById('facets');
  const next = facets?.dataset.nextHref;
  isFollowing = Boolean(facets && next) && failures <= FAILURES_MAX;
  if (!facets || !next || !isFollowing) return;
  // The counts of an answer lack only the values that are not ticked.
  const isRunning = document.getElementById('progress') !== null;
  setTimeout(async () => {
    try {
      const page = await fetchPage(next);
      const renewed = page.getElementById('facets');
      if (renewed) renew(facets, renewed);
      follow(renewed ? 0 : failures + 1);
    } catch {
      follow(failures + 1);
    }
  }, isRunning || failures > 0 ? EVERY_MS * (1 + failures) : 0);
}

/**
 * Puts new counts in the place of the old ones, but not under the pointer or the focus of the keyboard.
 * @param {HTMLElement} facets
 * @param {HTMLElement} renewed
 */
function renew(facets, renewed) {
  const isFinal = !renewed.dataset.nextHref;
  if (facets.matches(':hover, :focus-within') && !isFinal) return;
  replace(facets, renewed);
}
