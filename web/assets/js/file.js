// @ts-check
// The page of a file: selects lines, makes the link exact, and copies path, link and text.
import { copiesOnClick } from './copy.js';
import { register } from './keys.js';
import { fragment, keepLines, line, lineAt, numberOf, parseRange } from './lines.js';
import { say } from './say.js';

/** @typedef {import('./lines.js').Range} Range */

/** @param {HTMLElement} lines */
class Selection {
  /** @param {HTMLElement} lines */
  constructor(lines) {
    this.lines = lines;
    this.total = Number(lines.dataset.total);
    /** Where a range begins that is extended with shift. */
    this.anchor = 0;
    /** @type {Range | null} */
    this.range = null;
  }

  /**
   * Highlights these lines and no others.
   * @param {Range | null} range
   */
  show(range) {
    this.lines.classList.add('scripted');
    document.getElementById('no-line')?.remove();
    for (const hit of this.lines.querySelectorAll('.line.hit')) hit.classList.remove('hit');
    this.range = range;
    keepLines(range);
    if (!range) return;
    for (let at = range.first; at <= Math.min(range.last, this.total); at += 1) line(at)?.classList.add('hit');
    document.dispatchEvent(new CustomEvent('trawl:lines'));
  }

  /** Shows what the address names, and scrolls to what browsers do not know: a range, and lines without a fragment. */
  follow({ scrolls = true } = {}) {
    const named = parseRange(location.hash);
    const asked = parseRange(`#L${new URLSearchParams(location.search).get('line')}`);
    const range = named ?? asked;
    if (!range) return;
    if (range.first > this.total) {
      this.warn(range.first);
      return;
    }
    const first = line(range.first);
    if (!first && !named) return;
    if (!first) {
      // A long file, of which another part is here.
      location.replace(`${this.lines.dataset.pageHref}&line=${range.first}-${range.last}${fragment(range)}`);
      return;
    }
    this.anchor = range.first;
    this.show(range);
    if (scrolls && (!named || range.last > range.first)) first.scrollIntoView();
  }

  /**
   * Says that the address names a line that the file does not have.
   * @param {number} number
   */
  warn(number) {
    this.show(null);
    const grouped = new Intl.NumberFormat('en');
    const notice = document.createElement('p');
    notice.id = 'no-line';
    notice.className = 'notice';
    notice.textContent = `There is no line ${grouped.format(number)}: the last one is ${grouped.format(this.total)}.`;
    this.lines.before(notice);
    say(notice.textContent);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const number = event.target instanceof Element ? event.target.closest('a.number') : null;
    if (!number || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const at = Number(number.textContent);
    if (!event.shiftKey || this.anchor === 0) this.anchor = at;
    history.pushState(null, '', this.select(at));
  }

  /**
   * Selects the lines from the anchor to this one, and returns their address.
   * @param {number} at
   */
  select(at) {
    const range = { first: Math.min(this.anchor, at), last: Math.max(this.anchor, at) };
    this.show(range);
    getSelection()?.removeAllRanges();
    // The line of the link that led here is no longer meant.
    const search = location.search.replace(/&line=[^&]*/, '');
    return location.pathname + search + fragment(range);
  }

  /**
   * Selects the next or the previous line, or moves the end of the range that is selected.
   * @param {1 | -1} by
   * @param {boolean} isExtended
   */
  move(by, isExtended) {
    let at = numberOf(lineAt()) || 1;
    if (this.range) {
      const { first, last } = this.range;
      if (isExtended) at = (this.anchor === first ? last : first) + by;
      else at = (by > 0 ? last : first) + by;
    }
    const there = line(at);
    if (!there) return;
    if (!isExtended || this.anchor === 0) this.anchor = at;
    history.replaceState(null, '', this.select(at));
    there.scrollIntoView({ block: 'nearest' });
    const { first, last } = /** @type {Range} */ (this.range);
    say(first === last ? `Line ${first}` : `Lines ${first} to ${last}`);
  }

  /** Puts the address into the location bar that leads to this text, also when the file has changed. */
  makeExact() {
    const range = this.range ? fragment(this.range) : '';
    history.replaceState(null, '', `${this.lines.dataset.exactHref}${range}`);
    say('The address now leads to this exact text');
  }

  /** The text of the selected lines, or of the file. */
  async text() {
    const raw = /** @type {HTMLAnchorElement} */ (document.getElementById('raw'));
    const text = await (await fetch(raw.href)).text();
    if (!this.range) return text;
    return text.split('\n').slice(this.range.first - 1, this.range.last).join('\n');
  }
}

/** Scrolls the directory beside the lines to the file, but not the page. */
function showInTree() {
  const current = document.querySelector('.tree [aria-current]');
  let frame = current?.parentElement;
  while (frame && !/auto|scroll/.test(getComputedStyle(frame).overflowY)) frame = frame.parentElement;
  if (!current || !frame || frame === document.documentElement) return;
  const [place, around] = [current, frame].map((element) => element.getBoundingClientRect());
  if (place.bottom > around.bottom) frame.scrollTop += place.top - around.top - around.height / 2;
}

export function start() {
  const lines = document.getElementById('lines');
  const rendered = document.getElementById('rendered');
  if (rendered && parseRange(location.hash)) location.replace(rendered.dataset.linesHref + location.hash);
  if (!lines) return;
  showInTree();
  const selection = new Selection(lines);
  const [navigation] = performance.getEntriesByType('navigation');
  const isNew = /** @type {any} */ (navigation)?.type === 'navigate';
  selection.follow({ scrolls: isNew });
  addEventListener('hashchange', () => selection.follow());
  addEventListener('popstate', () => selection.show(parseRange(location.hash)));
  lines.addEventListener('click', (event) => selection.click(event));
  register('y', 'Make the address exact', () => selection.makeExact());
  const blame = document.getElementById('blame');
  if (blame) register('b', 'The commit of each line, or without them', () => blame.click());
  for (const [key, by] of /** @type {[string, 1 | -1][]} */ ([['j', 1], ['k', -1]])) {
    register(key, by > 0 ? 'Next line' : 'Previous line', () => selection.move(by, false));
    register(key.toUpperCase(), `${by > 0 ? 'One line more' : 'One line less'} in the range`, () => selection.move(by, true));
  }
  register('c', 'Copy the link to the lines', () => document.getElementById('copy-link')?.click());
  register('r', 'The file as it is (raw)', () => document.getElementById('raw')?.click());
  register('f', 'Search in this file', () => document.getElementById('find')?.focus());
  copiesOnClick('copy-path', 'Path', (button) => button.value);
  copiesOnClick('copy-link', 'Link', () => location.href);
  copiesOnClick('copy-text', 'Text', () => selection.text());
  document.querySelector('.about .tools')?.removeAttribute('hidden');
}
