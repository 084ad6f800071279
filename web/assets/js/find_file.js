// @ts-check
// The key `t` finds a file or symbol by its name, from every page: it begins such a search in the search box.
import { register } from './keys.js';

/** What makes a query search in the names of files. */
const BY_NAME = 'type:path ';

export function start() {
  const box = document.getElementById('q');
  if (!(box instanceof HTMLInputElement)) return;
  register('t', 'Find a file or symbol by name', () => {
    const words = box.form?.elements.namedItem('mode');
    if (words instanceof HTMLSelectElement) words.value = words.dataset.default ?? words.value;
    box.value = BY_NAME;
    box.focus();
    box.setSelectionRange(BY_NAME.length, BY_NAME.length);
  });
}
