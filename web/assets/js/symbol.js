// @ts-check
// A card with the definitions and uses of a word of a file, at a click or a key. It is a part of a page of the server, to
// which links lead without this script.
import { fetchPage } from './fragment.js';
import { Hint, moveTo } from './hint.js';
import { register } from './keys.js';
import { currentLine } from './lines.js';
import { say } from './say.js';
import { addressOf, atPoint, atSelection, beside, ofLine } from './words.js';

/** @typedef {import('./words.js').Word} Word */

class Card {
  /** @param {HTMLElement} lines */
  constructor(lines) {
    this.lines = lines;
    this.box = document.createElement('dialog');
    this.box.className = 'card';
    this.request = new AbortController();
  }

  close() {
    this.request.abort();
    this.box.close();
  }

  /**
   * @param {string} address
   * @param {string} name
   * @param {Range | Element} place
   */
  async open(address, name, place) {
    this.close();
    this.request = new AbortController();
    const { signal } = this.request;
    this.lines.ariaBusy = 'true';
    const page = await fetchPage(address, { signal }).catch(() => null);
    this.lines.ariaBusy = null;
    if (signal.aborted) return;
    const part = page?.querySelector('.symbol, #fault');
    if (!part) {
      location.assign(address);
      return;
    }
    const close = document.createElement('button');
    close.type = 'button';
    close.ariaLabel = 'Close';
    close.textContent = '×';
    close.addEventListener('click', () => this.close());
    this.box.ariaLabel = `Definitions and uses of ${name}`;
    this.box.replaceChildren(part, close);
    // The focus that it gets would scroll to another place.
    moveTo(this.box, place);
    this.box.show();
    moveTo(this.box, place);
  }

  /** @param {Word | null} word */
  ask(word) {
    if (word) this.open(addressOf(word), word.name, word.range);
    else say('No word is here');
  }

  /** @param {MouseEvent} event */
  click(event) {
    const { target } = event;
    const hasModifier = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (hasModifier || event.defaultPrevented || !(target instanceof Element)) return;
    const about = target.closest('a.outline-kind');
    if (about instanceof HTMLAnchorElement) {
      event.preventDefault();
      this.open(about.href, about.ariaLabel ?? '', about);
    } else if (!target.closest('a') && getSelection()?.isCollapsed !== false) {
      const word = atPoint(event.clientX, event.clientY);
      if (word) this.ask(word);
    }
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key === 'Escape') this.close();
    const by = event.key === 'ArrowUp' || event.shiftKey ? -1 : 1;
    const isArrow = /^Arrow(Up|Down)$/.test(event.key);
    if (!isArrow && event.key !== 'Tab') return;
    event.preventDefault();
    const all = /** @type {HTMLElement[]} */ ([...this.box.querySelectorAll(isArrow ? '.definition a' : 'a, button')]);
    all.at((all.findIndex((each) => each === document.activeElement) + by) % all.length)?.focus();
  }

  /**
   * Follows a link within the file.
   * @param {MouseEvent} event
   */
  follow(event) {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const file = this.lines.dataset.symbolHref?.replace(/^.*[?]/, '');
    const isHere = link?.search.replace(/&line=\d+$/, '') === `?${file}` && document.getElementById(link.hash.slice(1));
    if (!link || !isHere || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.close();
    location.hash = link.hash;
  }
}

/**
 * Selects the next or previous word of the line.
 * @param {HTMLElement} lines
 * @param {1 | -1} by
 */
function step(lines, by) {
  const from = atSelection();
  const word = from ? beside(from, by) : ofLine(currentLine());
  if (!word) return null;
  const { startContainer, startOffset, endContainer, endOffset } = word.range;
  lines.focus({ preventScroll: true });
  getSelection()?.setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
  startContainer.parentElement?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  say(word.name);
  return word;
}

export function start() {
  const lines = document.getElementById('lines');
  if (!lines) return;
  const [card, hint] = [new Card(lines), new Hint()];
  lines.after(card.box, hint.box);
  const ask = () => {
    hint.stop();
    card.ask(atSelection() ?? ofLine(currentLine()));
  };
  document.addEventListener('click', (event) => card.click(event));
  document.addEventListener('pointerdown', (event) => {
    hint.stop();
    if (event.target instanceof Element && !event.target.closest('.card')) card.close();
  });
  lines.addEventListener('pointermove', (event) => {
    if (!card.box.open) hint.point(event);
  });
  lines.addEventListener('pointerleave', () => hint.stop());
  lines.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target === lines) ask();
  });
  card.box.addEventListener('keydown', (event) => card.press(event));
  card.box.addEventListener('click', (event) => card.follow(event));
  register('.', 'Definitions and uses of the word (or Enter)', ask);
  for (const [key, by] of /** @type {[string, 1 | -1][]} */ ([['l', 1], ['h', -1]])) {
    register(key, by > 0 ? 'Next word of the line' : 'Previous word of the line', () => {
      const word = step(lines, by);
      if (word) hint.focus(word);
    });
  }
}
