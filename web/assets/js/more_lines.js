// @ts-check
// Lines of a long file that come as one scrolls. Without this script they are links to other pages.
import { fetchPage } from './fragment.js';

/** Lines in the page. What is beyond stays a link, so that the tab's memory is bounded. */
const LINES_MAX = 20000;

/** How near to the screen a link is followed. */
const NEAR = '2000px';

/**
 * Takes the lines of the page behind a link into this page.
 * @param {HTMLElement} lines
 * @param {HTMLAnchorElement} link
 */
async function load(lines, link) {
  const page = await fetchPage(link.href);
  const chunks = page.querySelectorAll('#lines > .chunk');
  if (chunks.length === 0) return;
  const isEarlier = link.rel === 'prev';
  const anchor = /** @type {HTMLElement} */ (isEarlier ? lines.firstElementChild : lines.lastElementChild);
  const top = anchor.getBoundingClientRect().top;
  if (isEarlier) lines.prepend(...withoutKnown(chunks));
  else lines.append(...withoutKnown(chunks));
  scrollBy(0, anchor.getBoundingClientRect().top - top);
  const next = page.querySelector(`nav.pages a[rel=${link.rel}]`);
  if (next instanceof HTMLAnchorElement) link.href = next.href;
  else link.closest('nav')?.remove();
}

/**
 * Windows of a file may overlap: removes the lines that the page has.
 * @param {NodeListOf<Element>} chunks
 */
function withoutKnown(chunks) {
  for (const chunk of chunks) {
    for (const line of chunk.querySelectorAll('.line')) if (document.getElementById(line.id)) line.remove();
  }
  return [...chunks].filter((chunk) => chunk.hasChildNodes());
}

export function start() {
  const lines = document.getElementById('lines');
  if (!lines) return;
  const observer = new IntersectionObserver(async (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLAnchorElement)) continue;
      observer.unobserve(target);
      if (lines.getElementsByClassName('line').length >= LINES_MAX) return;
      // A link that cannot be followed now stays a link.
      await load(lines, target).catch(() => undefined);
      if (target.isConnected) observer.observe(target);
    }
  }, { rootMargin: NEAR });
  for (const link of document.querySelectorAll('.view nav.pages a')) observer.observe(link);
}
