// @ts-check
// The last searches of this browser: on the start page, below the search box, and by a key. They are kept in the
// browser and sent to nobody.
import { register } from './keys.js';

const NAME = 'trawl-recent';
const KEPT_MAX = 10;
const LIKE_MAX = 3;

/** @typedef {{ q: string, href: string }} Search */

/** @returns {Search[]} */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    const isSearch = (/** @type {any} */ each) => typeof each?.q === 'string' && typeof each?.href === 'string';
    return Array.isArray(kept) ? kept.filter(isSearch).slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

/** @param {Search[]} searches */
function write(searches) {
  try {
    localStorage.setItem(NAME, JSON.stringify(searches.slice(0, KEPT_MAX)));
  } catch {
    // The browser keeps nothing: then there are no last searches.
  }
}

/**
 * The search of this page: its query and options, without the page's number; `null` if the page is of no search.
 * @returns {Search | null}
 */
function thisSearch() {
  const here = new URL(location.href);
  const q = here.searchParams.get('q');
  if (!q || !document.body.classList.contains('results')) return null;
  ['page', 'run', 'generation', 'from'].forEach((name) => here.searchParams.delete(name));
  return { q, href: here.pathname + here.search };
}

/** @param {Search} search */
function keep(search) {
  write([search, ...read().filter((other) => other.href !== search.href)]);
}

/** Goes to the last search that is not the one of this page. */
function previous() {
  const before = read().find((other) => other.href !== thisSearch()?.href);
  if (before) go(before);
}

/**
 * Does a search again.
 * @param {Search} search
 */
export function go({ href }) {
  const url = ownAddress(href);
  if (url) location.assign(url);
}

/**
 * Returns the last searches that have in them what was typed.
 * @param {string} typed
 */
export function like(typed) {
  const part = typed.trim().toLowerCase();
  const isLike = (/** @type {Search} */ { q }) => q.toLowerCase().includes(part) && q !== typed.trim();
  const here = thisSearch()?.href;
  return read().filter((search) => isLike(search) && search.href !== here).slice(0, LIKE_MAX);
}

/**
 * Returns an address of this site; `null` for others, since somebody may have written something else there.
 * @param {string} href
 */
function ownAddress(href) {
  const url = new URL(href, location.origin);
  return url.origin === location.origin && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** Shows the last searches. */
function show() {
  const searches = read();
  const main = document.getElementById('main');
  document.getElementById('recent')?.remove();
  if (!main || searches.length === 0) return;
  const section = document.createElement('section');
  section.id = 'recent';
  const title = document.createElement('h2');
  title.textContent = 'Your last searches';
  const list = document.createElement('ul');
  list.className = 'examples';
  for (const { q, href } of searches) {
    const link = document.createElement('a');
    const url = ownAddress(href);
    if (!url) continue;
    link.href = url;
    const code = document.createElement('code');
    code.textContent = q;
    link.append(code);
    const item = document.createElement('li');
    item.append(link);
    list.append(item);
  }
  const forget = document.createElement('button');
  forget.type = 'button';
  forget.className = 'quiet';
  forget.textContent = 'Forget them';
  forget.addEventListener('click', () => {
    write([]);
    show();
  });
  section.append(title, list, forget);
  main.append(section);
}

export function start() {
  const search = thisSearch();
  if (search) keep(search);
  register('g r', 'The search before this one', previous);
  if (document.body.classList.contains('start')) show();
}
