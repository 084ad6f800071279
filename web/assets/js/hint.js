// @ts-check
// The first definition of a word, shown while the pointer rests on it.
import { fetchPage } from './fragment.js';
import { say } from './say.js';
import { addressOf, atPoint, isOver } from './words.js';

/** @typedef {import('./words.js').Word} Word */

/** How long the pointer rests. */
const WAIT_MS = 400;

/** Definitions that are kept. */
const KEPT_MAX = 50;

/** Words without a hint: keywords and numbers. */
const PLAIN = '.c-k, .c-n';

export class Hint {
  constructor() {
    this.box = document.createElement('div');
    this.box.className = 'hint';
    this.box.inert = true;
    this.box.hidden = true;
    /** @type {Map<string, Element | null>} */
    this.kept = new Map();
    /** @type {Word | null} */
    this.word = null;
    this.timer = 0;
    this.request = new AbortController();
  }

  /** Forgets the word, and hides the box. */
  stop() {
    clearTimeout(this.timer);
    this.request.abort();
    this.request = new AbortController();
    this.word = null;
    this.box.hidden = true;
  }

  /** @param {PointerEvent} event */
  point({ clientX, clientY, pointerType, buttons }) {
    if (this.word && isOver(this.word, clientX, clientY)) return;
    this.stop();
    if (pointerType !== 'mouse' || buttons !== 0) return;
    this.timer = setTimeout(() => this.show(atPoint(clientX, clientY)), WAIT_MS);
  }

  /** A word that is selected by keyboard. @param {Word} word */
  focus(word) {
    this.stop();
    this.timer = setTimeout(() => this.show(word).then(() => say(this.box.innerText)), WAIT_MS);
  }

  /** @param {Word | null} word */
  async show(word) {
    if (!word || word.range.startContainer.parentElement?.closest(PLAIN)) return;
    this.word = word;
    const found = await this.definition(word).catch(() => null);
    if (!found || this.word !== word) return;
    this.box.replaceChildren(found.cloneNode(true));
    this.box.hidden = false;
    moveTo(this.box, word.range);
  }

  /** @param {Word} word */
  async definition(word) {
    const address = `${addressOf(word)}&uses=false`;
    const known = this.kept.get(address);
    if (known !== undefined) return known;
    const page = await fetchPage(address, { signal: this.request.signal });
    const found = page.querySelector('.definition');
    this.kept.set(address, found);
    if (this.kept.size > KEPT_MAX) this.kept.delete([...this.kept.keys()][0]);
    return found;
  }
}

/**
 * Moves a box below a place of the page, or above it if there is no room.
 * @param {HTMLElement} box
 * @param {Range | Element} place
 */
export function moveTo(box, place) {
  const around = box.parentElement?.getBoundingClientRect();
  if (!around) return;
  const { left, top, bottom } = place.getBoundingClientRect();
  const { offsetHeight, offsetWidth } = box;
  const isAbove = bottom + offsetHeight > innerHeight && top > offsetHeight;
  box.style.left = `${Math.max(0, Math.min(left - around.left, around.width - offsetWidth))}px`;
  box.style.top = `${(isAbove ? top - offsetHeight - 4 : bottom + 4) - around.top}px`;
}
