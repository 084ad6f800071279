// @ts-check
// Ranges of lines: what a fragment names, and the elements and links that follow it.

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
export function fragment({ first, last }) {
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}

/** @param {number} number */
export function line(number) {
  return document.getElementById(`L${number}`);
}

/**
 * Returns the line at a height of the screen that the bar does not cover.
 * @param {number} [y]
 */
export function lineAt(y = 0) {
  const bar = document.querySelector('.view > .bar')?.getBoundingClientRect().bottom ?? 0;
  const box = document.getElementById('lines')?.getBoundingClientRect();
  if (!box) return null;
  // Inside of the border and the padding.
  const found = document.elementsFromPoint(Math.max(box.left, 0) + 9, Math.max(y, bar, box.top) + 9);
  return found.find((element) => element.matches('#lines .line')) ?? null;
}

/** The number of a line. @param {Element | null | undefined} line */
export function numberOf(line) {
  return Number(line?.id.slice(1) ?? 0);
}

/** The first selected line, else the first on the screen. */
export function currentLine() {
  return document.querySelector('#lines .line.hit') ?? lineAt();
}

/**
 * Makes the links to the file in other forms lead to these lines.
 * @param {Range | null} range
 */
export function keepLines(range) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('a[data-keeps]'))) {
    const bare = link.href.replace(/#.*/, '').replace(/&line=[^&]*/, '');
    // The file may be shorter there: then a parameter would be an error.
    const parameter = range && link.dataset.keeps !== 'fragment' ? `&line=${fragment(range).replace(/[#L]/g, '')}` : '';
    link.href = bare + parameter + (range && link.dataset.keeps !== 'parameter' ? fragment(range) : '');
  }
}
