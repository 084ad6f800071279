// @ts-check
// The further lines of a file, in the box where its first ones are.
import { fetchPage } from './fragment.js';

/** How often the lines are asked for while they are searched, and how long it waits in between. */
const TRIES_MAX = 40;
const TRY_MS = 150;

/**
 * Fetches the page of a file's lines once it is complete.
 * @param {string} address
 */
async function wholePage(address) {
  for (let tried = 0; tried < TRIES_MAX; tried += 1) {
    const page = await fetchPage(address);
    if (!page.querySelector('main')?.dataset.eventsHref) return page;
    await new Promise((resolve) => { setTimeout(resolve, TRY_MS); });
  }
  return null;
}

/**
 * Shows the next lines of a file in its box, or goes to their page if they cannot be had.
 * @param {HTMLAnchorElement} link
 */
async function expand(link) {
  const box = link.closest('[data-box]');
  const lines = box?.querySelector('.code');
  if (!box || !lines || link.ariaBusy === 'true') return;
  link.ariaBusy = 'true';
  const page = await wholePage(link.href).catch(() => null);
  const found = page?.querySelector('[data-box] .code');
  if (!page || !found) {
    location.assign(link.href);
    return;
  }
  const had = lines.childElementCount;
  const first = /** @type {HTMLElement | null} */ (found.querySelector('.line'));
  if (link.dataset.more === 'append') append(lines, found);
  else lines.replaceChildren(...found.childNodes);
  const more = page.querySelector('[data-box] .more');
  const place = link.closest('.more');
  if (more) place?.replaceWith(more);
  else place?.remove();
  // The focus was on the link: it goes to where the new lines begin.
  const start = link.dataset.more === 'append' ? lines.children[had] : first;
  const target = start?.classList.contains('line') ? start : start?.nextElementSibling;
  /** @type {HTMLElement | null} */ (target?.querySelector('a.number') ?? null)?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent('trawl:content'));
}

/** @param {Element} line */
function numberOf(line) {
  return Number(line.querySelector('.number')?.textContent);
}

/**
 * Appends lines after those that are there. A line of context may be in both.
 * @param {Element} lines
 * @param {Element} found
 */
function append(lines, found) {
  const last = lines.querySelector('.line:last-child');
  const before = last ? numberOf(last) : 0;
  const isNew = (/** @type {Element} */ row) => !row.classList.contains('line') || numberOf(row) > before;
  const rows = [...found.children].filter(isNew);
  const first = rows.find((row) => row.classList.contains('line'));
  if (first && numberOf(first) > before + 1) {
    const gap = document.createElement('div');
    gap.className = 'gap';
    gap.ariaHidden = 'true';
    gap.textContent = '⋯';
    rows.unshift(gap);
  }
  lines.append(...rows);
}

export function start() {
  document.addEventListener('click', (event) => {
    const target = /** @type {Element} */ (event.target);
    const link = target.closest?.('a[data-more]');
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    if (!(link instanceof HTMLAnchorElement) || !isPlain) return;
    event.preventDefault();
    expand(link);
  });
}
