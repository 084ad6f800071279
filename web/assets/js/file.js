// @ts-check
// The page of a file: selects lines, makes the link exact, and copies path, link and text.
import { copiesOnClick, say } from './clipboard.js';
import { register } from './keys.js';

/** @typedef {{ first: number, last: number }} Range */

/**
 * Reads `#L7` or `#L7-L9`, in either order; `null` if the fragment names no lines.
 * @param {string} hash
 * @returns {Range | null}
 */
export function parseRange(hash) {
  const found = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash);
  if (!found) return null;
  const [from, to] = [Number(found[1]), Number(found[2] ?? found[1])];
  return from > 0 && to > 0 ? { first: Math.min(from, to), last: Math.max(from, to) } : null;
}

/** @param {Range} range */
function fragment({ first, last }) {
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}

/** @param {number} number */
function line(number) {
  return document.getElementById(`L${number}`);
}

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
    for (const hit of this.lines.querySelectorAll('.line.hit')) hit.classList.remove('hit');
    this.range = range;
    if (!range) return;
    for (let at = range.first; at <= Math.min(range.last, this.total); at += 1) line(at)?.classList.add('hit');
  }

  /** Shows what the address names, and scrolls to a range, which browsers do not know. */
  follow({ scrolls = true } = {}) {
    const range = parseRange(location.hash);
    if (!range) return;
    if (range.first > this.total) {
      say(`The file has ${this.total} lines`);
      return;
    }
    const first = line(range.first);
    if (!first) {
      // A long file, of which another part is here.
      location.replace(`${this.lines.dataset.pageHref}&line=${range.first}-${range.last}${fragment(range)}`);
      return;
    }
    this.anchor = range.first;
    this.show(range);
    if (scrolls && range.last > range.first) first.scrollIntoView();
  }

  /** @param {MouseEvent} event */
  click(event) {
    const number = event.target instanceof Element ? event.target.closest('a.number') : null;
    if (!number || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const at = Number(number.textContent);
    if (!event.shiftKey || this.anchor === 0) this.anchor = at;
    const range = { first: Math.min(this.anchor, at), last: Math.max(this.anchor, at) };
    this.show(range);
    // The line of the link that led here is no longer meant.
    const search = location.search.replace(/&line=[^&]*/, '');
    history.pushState(null, '', location.pathname + search + fragment(range));
    getSelection()?.removeAllRanges();
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

export function start() {
  const lines = document.getElementById('lines');
  if (!lines) return;
  const selection = new Selection(lines);
  const [navigation] = performance.getEntriesByType('navigation');
  const isNew = /** @type {any} */ (navigation)?.type === 'navigate';
  selection.follow({ scrolls: isNew });
  addEventListener('hashchange', () => selection.follow());
  addEventListener('popstate', () => selection.show(parseRange(location.hash)));
  lines.addEventListener('click', (event) => selection.click(event));
  register('y', 'Make the address exact', () => selection.makeExact());
  register('f', 'Search in this file', () => document.getElementById('find')?.focus());
  copiesOnClick('copy-path', 'Path', (button) => button.value);
  copiesOnClick('copy-link', 'Link', () => location.href);
  copiesOnClick('copy-text', 'Text', () => selection.text());
  document.querySelector('.about .tools')?.removeAttribute('hidden');
}
