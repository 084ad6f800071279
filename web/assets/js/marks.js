// @ts-check
// Steps through the lines of a file that match the query. A part of a long file is on the page: a matching line that is
// not there is opened by its link, as far as the page lists it.
import { register } from './keys.js';
import { numberOf } from './lines.js';

/** @param {HTMLElement} lines */
function matching(lines) {
  const marks = [...lines.querySelectorAll('mark')];
  return [...new Set(marks.map((mark) => mark.closest('.line')))].filter((line) => line !== null);
}

/** The links to matching lines: the first of them all, by their numbers. */
function listed() {
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('.mark-lines a'));
  return new Map([...links].map((link) => [Number(link.textContent), link]));
}

/**
 * Returns the link to the matching line that comes next and is not on the page.
 * @param {Element[]} all the matching lines that are on the page
 * @param {number} at the one to go to; outside of `all` behind its ends
 */
function beyond(all, at) {
  const others = [...listed()].filter(([number]) => !document.getElementById(`L${number}`));
  const first = all.length > 0 ? numberOf(all[0]) : Infinity;
  const last = all.length > 0 ? numberOf(all[all.length - 1]) : 0;
  if (at >= all.length) return others.find(([number]) => number > last)?.[1];
  return at < 0 ? others.filter(([number]) => number < first).pop()?.[1] : undefined;
}

/**
 * Goes to the next matching line: from the last one, from the line of the address, or from what is on the screen.
 * @param {HTMLElement} lines
 * @param {1 | -1} step
 */
function go(lines, step) {
  const all = matching(lines);
  const isHere = (/** @type {string} */ selector) => all.findIndex((line) => line.matches(selector));
  const current = isHere(':has(mark.current)');
  const before = current >= 0 ? current : isHere('.hit');
  const onScreen = all.findIndex((line) => line.getBoundingClientRect().top > 0);
  let at = before + step;
  if (before < 0) at = step > 0 ? Math.max(onScreen, 0) : onScreen - 1;
  const other = beyond(all, at);
  if (other) other.click();
  if (other || all.length === 0) return;
  at = (at + all.length) % all.length;
  for (const mark of lines.querySelectorAll('mark.current')) mark.classList.remove('current');
  for (const mark of all[at].querySelectorAll('mark')) mark.classList.add('current');
  all[at].scrollIntoView({ block: 'center' });
  tell(all, at);
}

/**
 * Says which of the matching lines this is.
 * @param {Element[]} all
 * @param {number} at
 */
function tell(all, at) {
  const count = document.getElementById('mark-count');
  if (!count) return;
  const place = [...listed().keys()].indexOf(numberOf(all[at]));
  const grouped = new Intl.NumberFormat('en');
  count.textContent = place < 0
    ? `${at + 1} of ${all.length} on this page`
    : `${place + 1} of ${grouped.format(Number(count.dataset.total))}`;
}

export function start() {
  const lines = document.getElementById('lines');
  if (!lines || !document.getElementById('mark-count')) return;
  register('n', 'Next matching line', () => go(lines, 1));
  register('p', 'Previous matching line', () => go(lines, -1));
  for (const [id, step] of /** @type {[string, 1 | -1][]} */ ([['mark-next', 1], ['mark-previous', -1]])) {
    const button = document.getElementById(id);
    button?.addEventListener('click', () => go(lines, step));
    button?.removeAttribute('hidden');
  }
}
