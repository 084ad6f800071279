// @ts-check
// Steps through the lines of a file that match the query.
import { register } from './keys.js';

/** @param {HTMLElement} lines */
function matching(lines) {
  const marks = [...lines.querySelectorAll('mark')];
  return [...new Set(marks.map((mark) => mark.closest('.line')))].filter((line) => line !== null);
}

/**
 * Goes to the next matching line, from the last one or from what is on the screen.
 * @param {HTMLElement} lines
 * @param {1 | -1} step
 */
function go(lines, step) {
  const all = matching(lines);
  if (all.length === 0) return;
  const before = all.findIndex((line) => line.querySelector('mark.current'));
  const onScreen = all.findIndex((line) => line.getBoundingClientRect().top > 0);
  let at = before + step;
  if (before < 0) at = step > 0 ? Math.max(onScreen, 0) : onScreen - 1;
  at = (at + all.length) % all.length;
  for (const mark of lines.querySelectorAll('mark.current')) mark.classList.remove('current');
  for (const mark of all[at].querySelectorAll('mark')) mark.classList.add('current');
  all[at].scrollIntoView({ block: 'center' });
  const count = document.getElementById('mark-count');
  if (count) count.textContent = `${at + 1} of ${all.length}`;
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
