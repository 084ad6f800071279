// @ts-check
// The counts beside the results of a running search: asked for again every second, until they are final.

import { fetchPage } from './fragment.js';

const EVERY_MS = 1000;

/** How often in a row a request may fail before the counts are left as they are. */
const FAILURES_MAX = 5;

export function start() {
  follow(0);
}

/** @param {number} failures */
function follow(failures) {
  const facets = document.getElementById('facets');
  const next = facets?.dataset.nextHref;
  if (!facets || !next || failures > FAILURES_MAX) return;
  setTimeout(async () => {
    try {
      const page = await fetchPage(next);
      const renewed = page.getElementById('facets');
      if (renewed) renew(facets, renewed);
      follow(renewed ? 0 : failures + 1);
    } catch {
      follow(failures + 1);
    }
  }, EVERY_MS * (1 + failures));
}

/**
 * Puts new counts in the place of the old ones, but not under the pointer or the focus of the keyboard.
 * @param {HTMLElement} facets
 * @param {HTMLElement} renewed
 */
function renew(facets, renewed) {
  const isFinal = !renewed.dataset.nextHref;
  if (facets.matches(':hover, :focus-within') && !isFinal) return;
  const open = [...facets.querySelectorAll('details[open] > summary')].map(name);
  const focused = facets.contains(document.activeElement) ? document.activeElement : null;
  const adopted = document.importNode(renewed, true);
  for (const summary of adopted.querySelectorAll('summary')) {
    if (open.includes(name(summary)) && summary.parentElement) summary.parentElement.setAttribute('open', '');
  }
  facets.replaceWith(adopted);
  if (focused instanceof HTMLElement) refocus(adopted, focused);
}

/**
 * A summary is known by the list that it is in.
 * @param {Element} summary
 */
function name(summary) {
  return summary.closest('section')?.getAttribute('aria-labelledby') ?? '';
}

/**
 * Focuses the link for the same value.
 * @param {HTMLElement} facets
 * @param {HTMLElement} focused
 */
function refocus(facets, focused) {
  const links = [...facets.querySelectorAll('a')];
  links.find((link) => link.className === focused.className && link.textContent === focused.textContent
    && link.getAttribute('aria-label') === focused.getAttribute('aria-label'))?.focus();
}
