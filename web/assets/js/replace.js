// @ts-check
// Replaces a part of the page by a newer one. The keyboard stays where it was, and lists that were opened stay open.

/**
 * A list beside the results is known by the section that it is in; the aside itself has no section.
 * @param {Element} summary
 */
function name(summary) {
  return summary.closest('section')?.getAttribute('aria-labelledby') ?? '';
}

/**
 * Returns the summaries of the lists beside the results.
 * @param {Element} part
 */
function summaries(part) {
  return [...part.querySelectorAll('summary')].filter((summary) => summary.closest('.facets'));
}

/**
 * Returns the link or the button of the new part that does the same as one of the old part.
 * @param {Element} fresh
 * @param {Element} before
 */
function twin(fresh, before) {
  const isTwin = (/** @type {Element} */ each) => each.className === before.className
    && each.id === before.id
    && each.textContent === before.textContent
    && each.getAttribute('aria-label') === before.getAttribute('aria-label');
  return [...fresh.querySelectorAll(before.localName)].find(isTwin);
}

/**
 * Focuses an element, and opens the lists that hide it.
 * @param {HTMLElement} element
 */
function focus(element) {
  for (let list = element.closest('details'); list; list = list.parentElement?.closest('details') ?? null) {
    if (!element.matches('summary')) list.open = true;
  }
  element.focus({ preventScroll: true });
}

/**
 * Puts a newer part in the place of an old one. If the focus was in the old one, it goes to the same link or button, else
 * to the content of the page.
 * @param {Element} old
 * @param {Element} fresh
 */
export function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const open = summaries(old).filter((summary) => summary.parentElement?.hasAttribute('open')).map(name);
  const adopted = document.importNode(fresh, true);
  old.replaceWith(adopted);
  for (const summary of summaries(adopted)) {
    if (open.includes(name(summary))) summary.parentElement?.setAttribute('open', '');
  }
  if (!focused) return;
  const next = twin(adopted, focused) ?? document.getElementById('main');
  if (next instanceof HTMLElement) focus(next);
}
