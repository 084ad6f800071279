// @ts-check
// Completes the query while it is typed: a combobox in the pattern of ARIA, with a list below the search box. Below the
// completions are the last searches that are like it.
import { go, like } from './recent.js';

const WAIT_MS = 80;

/** @typedef {{ text: string, label: string, kind: string, about: string, href?: string }} Completion */
/** @typedef {{ from: number, to: number, completions: Completion[] }} Completions in bytes of the query */

/** What is shown now, of how many bytes, and which entry is chosen; -1: none. */
let shown = /** @type {Completions} */ ({ from: 0, to: 0, completions: [] });
let shownBytes = 0;
let chosen = -1;

/** The last request; older ones are given up. */
let request = new AbortController();
let timer = 0;

export function start() {
  const box = /** @type {HTMLInputElement | null} */ (document.getElementById('q'));
  const href = box?.form?.dataset.completeHref;
  if (!box || !href) return;
  const list = document.createElement('ul');
  list.id = 'completions';
  list.className = 'completions';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  box.parentElement?.append(list);
  box.setAttribute('role', 'combobox');
  box.setAttribute('aria-autocomplete', 'list');
  box.setAttribute('aria-controls', list.id);
  box.setAttribute('aria-expanded', 'false');
  box.addEventListener('input', () => {
    clearTimeout(timer);
    request.abort();
    // The list is of an older text.
    list.ariaBusy = 'true';
    timer = window.setTimeout(ask, WAIT_MS, box, list, href);
  });
  box.addEventListener('keydown', (event) => press(event, box, list));
  box.addEventListener('blur', () => hide(box, list));
  // Before the box loses the focus.
  list.addEventListener('mousedown', (event) => {
    event.preventDefault();
    const entry = event.target instanceof Element ? event.target.closest('li') : null;
    if (entry) take(box, list, [...list.children].indexOf(entry));
  });
}

/**
 * @param {HTMLInputElement} box
 * @param {HTMLElement} list
 * @param {string} href
 */
async function ask(box, list, href) {
  const end = box.selectionStart ?? box.value.length;
  const mode = /** @type {HTMLSelectElement | null} */ (box.form?.elements.namedItem('mode'));
  const last = like(box.value).map((search) => ({ text: search.q, label: search.q, kind: '', about: 'searched before', href: search.href }));
  const bytes = new TextEncoder().encode(box.value.slice(0, end)).length;
  const whole = new TextEncoder().encode(box.value).length;
  let found = /** @type {Completions} */ ({ from: whole, to: whole, completions: [] });
  const isCompleted = box.value !== '' && (!mode || mode.value === 'keyword');
  request = new AbortController();
  const { signal } = request;
  try {
    const response = isCompleted && (await fetch(`${href}?q=${encodeURIComponent(box.value)}&at=${bytes}`, { signal }));
    if (response && response.ok) found = inSite(await response.json(), href);
  } catch {
    // The server is gone, or a newer request has taken the place of this one.
  }
  if (!signal.aborted) show(box, list, { ...found, completions: [...found.completions, ...last] }, whole);
}

/**
 * Addresses in JSON lack the path of the site, which that of the completions has.
 * @param {Completions} found
 * @param {string} own
 */
function inSite(found, own) {
  const base = own.replace(/\/api\/v2\/complete$/, '');
  for (const each of found.completions) if (each.href) each.href = base + each.href;
  return found;
}

/**
 * @param {HTMLInputElement} box
 * @param {HTMLElement} list
 * @param {Completions} found
 * @param {number} bytes of the query that they complete
 */
function show(box, list, found, bytes) {
  if (found.completions.length === 0 || document.activeElement !== box) return hide(box, list);
  // What the user has chosen in an older list stays chosen.
  list.ariaBusy = 'false';
  const kept = shown.completions[chosen]?.text;
  [shown, shownBytes] = [found, bytes];
  list.replaceChildren(...found.completions.map(entry));
  list.hidden = false;
  box.setAttribute('aria-expanded', 'true');
  choose(box, list, found.completions.findIndex((each) => each.text === kept));
}

/**
 * @param {Completion} completion
 * @param {number} index
 */
function entry({ label, kind, about }, index) {
  const item = document.createElement('li');
  item.id = `completion-${index}`;
  item.setAttribute('role', 'option');
  const name = document.createElement('code');
  name.textContent = label;
  const what = document.createElement('span');
  what.textContent = about || kind;
  item.append(name, ' ', what);
  return item;
}

/**
 * @param {HTMLInputElement} box
 * @param {HTMLElement} list
 */
function hide(box, list) {
  clearTimeout(timer);
  request.abort();
  list.hidden = true;
  list.ariaBusy = 'false';
  list.replaceChildren();
  chosen = -1;
  box.setAttribute('aria-expanded', 'false');
  box.removeAttribute('aria-activedescendant');
}

/**
 * @param {HTMLInputElement} box
 * @param {HTMLElement} list
 * @param {number} index
 */
function choose(box, list, index) {
  chosen = index;
  [...list.children].forEach((item, at) => item.setAttribute('aria-selected', String(at === index)));
  if (index < 0) box.removeAttribute('aria-activedescendant');
  else box.setAttribute('aria-activedescendant', `completion-${index}`);
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLInputElement} box
 * @param {HTMLElement} list
 */
function press(event, box, list) {
  const count = list.children.length;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (list.hidden) {
    if (event.key === 'ArrowDown') box.dispatchEvent(new Event('input'));
    return;
  }
  // One step beyond either end nothing is chosen.
  if (event.key === 'ArrowDown') choose(box, list, chosen + 1 < count ? chosen + 1 : -1);
  else if (event.key === 'ArrowUp') choose(box, list, chosen < 0 ? count - 1 : chosen - 1);
  else if (event.key === 'Escape') hide(box, list);
  else if (event.key === 'Enter' && chosen >= 0) take(box, list, chosen);
  else if (event.key === 'Tab' && !event.shiftKey && chosen >= 0) take(box, list, chosen);
  else return;
  event.preventDefault();
}

/**
 * Puts a completion in the place of what was typed.
 * @param {HTMLInputElement} box
 * @param {HTMLElement} list
 * @param {number} index
 */
function take(box, list, index) {
  const { text, kind, href } = shown.completions[index];
  if (href) return go({ q: text, href });
  const bytes = new TextEncoder().encode(box.value);
  const decode = (/** @type {Uint8Array} */ part) => new TextDecoder().decode(part);
  const before = decode(bytes.slice(0, shown.from)) + text;
  // The user may have gone on since.
  const after = decode(bytes.slice(shown.to + bytes.length - shownBytes));
  const space = kind === 'key' || after.startsWith(' ') ? '' : ' ';
  box.value = before + space + after;
  box.setSelectionRange(before.length + space.length, before.length + space.length);
  hide(box, list);
  // The values of a key follow.
  if (kind === 'key') box.dispatchEvent(new Event('input'));
}
