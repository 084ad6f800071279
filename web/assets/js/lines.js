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
