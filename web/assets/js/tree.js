// @ts-check
// Directories beside a file open in place. Without this script they are links to their pages, which they stay.
import { fetchPage } from './fragment.js';

/** Entries of a directory that open in place. The page of the directory has all. */
const ENTRIES_MAX = 500;

/** @param {HTMLLIElement} item */
function addButton(item) {
  const link = item.querySelector('a');
  if (!link) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'opener';
  button.setAttribute('aria-expanded', 'false');
  button.setAttribute('aria-label', `Show what is in ${link.textContent}`);
  button.textContent = '▸';
  button.addEventListener('click', () => toggle(item, button, link));
  item.prepend(button);
}

/**
 * @param {HTMLLIElement} item
 * @param {HTMLButtonElement} button
 * @param {HTMLAnchorElement} link
 */
async function toggle(item, button, link) {
  const isOpen = button.getAttribute('aria-expanded') === 'true';
  const known = item.querySelector('ul');
  button.setAttribute('aria-expanded', String(!isOpen));
  button.textContent = isOpen ? '▸' : '▾';
  if (known) known.hidden = isOpen;
  if (known || isOpen) return;
  const list = document.createElement('ul');
  item.append(list);
  try {
    list.append(...(await entries(link.href)));
  } catch {
    // The page of the directory says what is wrong.
    location.assign(link.href);
  }
}

/**
 * Reads the entries of a directory from its page.
 * @param {string} href
 */
async function entries(href) {
  const page = await fetchPage(href);
  const rows = [...page.querySelectorAll('.entries tbody tr')];
  const items = rows.slice(0, ENTRIES_MAX).map((row) => {
    const item = document.createElement('li');
    const from = row.querySelector('a');
    const link = document.createElement('a');
    link.href = from?.href ?? href;
    link.textContent = from?.textContent ?? '';
    item.append(link);
    if (row.classList.contains('directory')) {
      item.className = 'directory';
      addButton(item);
    }
    return item;
  });
  if (rows.length > ENTRIES_MAX || page.querySelector('nav.pages a[rel=next]')) items.push(more(href));
  return items;
}

/** @param {string} href */
function more(href) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = href;
  link.textContent = 'more entries';
  item.append(link);
  return item;
}

export function start() {
  for (const item of document.querySelectorAll('.tree li.directory')) {
    if (item instanceof HTMLLIElement) addButton(item);
  }
}
