// @ts-check
// Pages of differences: steps through changes and files, and fetches more context into its file.
import { fetchPage } from './fragment.js';
import { register } from './keys.js';
import { replace } from './replace.js';
import { say } from './say.js';

/**
 * Goes to the next or previous one of these parts: from the focused one, else from what is on the screen.
 * @param {string} selector
 * @param {1 | -1} step
 */
function go(selector, step) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);
  if (all.length === 0) return;
  const focused = all.findIndex((part) => part.contains(document.activeElement));
  const below = all.findIndex((part) => part.getBoundingClientRect().top > 1);
  const first = below < 0 ? all.length : below;
  let at = step > 0 ? first : first - 1;
  if (focused >= 0) at = focused + step;
  const there = all[(at + all.length) % all.length];
  there.tabIndex = -1;
  there.focus({ preventScroll: true });
  there.scrollIntoView({ block: 'start' });
  say(`${all.indexOf(there) + 1} of ${all.length}`);
}

/**
 * Puts the file of the page behind a link into the place of this one.
 * @param {HTMLAnchorElement} link
 */
async function expand(link) {
  const old = /** @type {HTMLElement} */ (link.closest('.diff'));
  const page = await fetchPage(link.href);
  const fresh = page.querySelector('.diff');
  if (!fresh) throw new Error('the page has no difference');
  fresh.id = old.id;
  const isSame = old.classList.contains('split') === fresh.classList.contains('split');
  if (!isSame) throw new Error('the page has another view');
  replace(old, fresh);
}

export function start() {
  if (!document.querySelector('.diff')) return;
  register('n', 'Next change', () => go('.diff .change', 1));
  register('p', 'Previous change', () => go('.diff .change', -1));
  register('j', 'Next file', () => go('.diff', 1));
  register('k', 'Previous file', () => go('.diff', -1));
  const other = document.getElementById('other-view');
  if (other) register('s', 'Side by side, or unified', () => other.click());
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-context]') : null;
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    expand(link).catch(() => { location.href = link.href; });
  });
}
