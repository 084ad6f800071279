// @ts-check
// Words of the code of a file: at a point, at the selection, and beside another on its line.

import { numberOf } from './lines.js';

/** @typedef {{ code: Element, name: string, start: number, range: Range, line: number, column: number | null }} Word */

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;

/**
 * Returns the word at or right before a place of the code.
 * @param {Node | null | undefined} node
 * @param {number} offset
 * @returns {Word | null}
 */
function wordAt(node, offset) {
  const element = node instanceof Element ? node : node?.parentElement;
  const code = element?.closest('#lines code');
  if (!node || !code) return null;
  const before = document.createRange();
  before.setStart(code, 0);
  before.setEnd(node, offset);
  const at = before.toString().length;
  return wordsOf(code).find(({ start, name }) => start <= at && at <= start + name.length)?.word() ?? null;
}

/** @param {Element} code */
function wordsOf(code) {
  const found = (code.textContent ?? '').matchAll(WORD);
  return [...found].map(({ 0: name, index: start }) => ({ name, start, word: () => word(code, name, start) }));
}

/**
 * @param {Element} code
 * @param {string} name
 * @param {number} start
 * @returns {Word}
 */
function word(code, name, start) {
  const range = document.createRange();
  range.setStart(...place(code, start));
  range.setEnd(...place(code, start + name.length, true));
  // A part that is cut off or escaped has another length in the file.
  const isPlain = !code.querySelector('.cut, .sign');
  const before = new TextEncoder().encode((code.textContent ?? '').slice(0, start));
  const line = numberOf(code.closest('.line'));
  return { code, name, start, range, line, column: isPlain ? before.length : null };
}

/**
 * @param {Element} code
 * @param {number} offset
 * @param {boolean} [isEnd]
 * @returns {[Node, number]}
 */
function place(code, offset, isEnd = false) {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  let rest = offset;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const { length } = /** @type {Text} */ (text);
    if (rest < length || (isEnd && rest === length)) return [text, rest];
    rest -= length;
  }
  return [code, code.childNodes.length];
}

/** The address of the page about a word. @param {Word} word */
export function addressOf({ name, line, column }) {
  const which = column === null ? `&q=${encodeURIComponent(name)}` : `&line=${line}&column=${column}`;
  return `${document.getElementById('lines')?.dataset.symbolHref}${which}`;
}

/**
 * @param {number} x
 * @param {number} y
 */
export function atPoint(x, y) {
  const caret = document.caretPositionFromPoint?.(x, y);
  const old = caret ? null : document.caretRangeFromPoint?.(x, y);
  const found = wordAt(caret?.offsetNode ?? old?.startContainer, caret?.offset ?? old?.startOffset ?? 0);
  // The nearest caret may be far away.
  return found && isOver(found, x, y) ? found : null;
}

/**
 * @param {Word} word
 * @param {number} x
 * @param {number} y
 */
export function isOver({ range }, x, y) {
  const { left, right, top, bottom } = range.getBoundingClientRect();
  return left <= x && x <= right && top <= y && y <= bottom;
}

/** The word at the caret or the start of the selection. */
export function atSelection() {
  const selection = getSelection();
  if (!selection?.rangeCount) return null;
  const { startContainer, startOffset } = selection.getRangeAt(0);
  return wordAt(startContainer, startOffset);
}

/**
 * Returns a defined word of a line, else its first word.
 * @param {Element | null} line
 */
export function ofLine(line) {
  const code = line?.querySelector('code');
  if (!line || !code) return null;
  const words = wordsOf(code);
  const defined = document.querySelector(`.outline a[href$="#${line.id}"]`)?.textContent;
  return (words.find(({ name }) => name === defined) ?? words[0])?.word() ?? null;
}

/**
 * Returns the next or previous word of the line.
 * @param {Word} from
 * @param {1 | -1} by
 */
export function beside(from, by) {
  const words = wordsOf(from.code);
  return words[words.findIndex(({ start }) => start === from.start) + by]?.word() ?? null;
}
