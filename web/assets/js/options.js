// @ts-check
// Keys for the options of the search: each chooses the next value, and searches again if there is a query.
import { register } from './keys.js';

/** @param {HTMLFormElement} form */
function again(form) {
  const box = form.elements.namedItem('q');
  if (box instanceof HTMLInputElement && box.value !== '') form.requestSubmit();
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function next(form, name) {
  const option = form.elements.namedItem(name);
  if (option instanceof HTMLSelectElement) {
    option.selectedIndex = (option.selectedIndex + 1) % option.length;
    option.dispatchEvent(new Event('change', { bubbles: true }));
  } else if (option instanceof HTMLInputElement) {
    option.checked = !option.checked;
  }
  again(form);
}

export function start() {
  const form = document.querySelector('form[role=search]');
  if (!(form instanceof HTMLFormElement)) return;
  register('s m', 'Words, exact text or regular expression', () => next(form, 'mode'));
  register('s c', 'Upper and lower case', () => next(form, 'case'));
  register('s w', 'Whole words', () => next(form, 'word'));
}
