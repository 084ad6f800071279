// @ts-check
// The keys of the pages: one table, which `?` shows. No key acts while somebody types in a field, or with Ctrl,
// Alt or Meta, which belong to the browser.

/** @typedef {{ keys: string[], label: string, run: (event: KeyboardEvent) => void }} Binding */

/** @type {Binding[]} */
const bindings = [];

/** How long the next key of a sequence may take. */
const SEQUENCE_MS = 1500;

/** @type {string[]} */
let typed = [];
let typedAt = 0;

/**
 * Binds a key, or keys after each other: `register('g p', 'Results by package', …)`. A later binding of the same
 * keys takes the place of the earlier one.
 * @param {string} keys as `KeyboardEvent.key` names them, separated by spaces
 * @param {string} label what they do, for the list of keys
 * @param {(event: KeyboardEvent) => void} run
 */
export function register(keys, label, run) {
  const binding = { keys: keys.split(' '), label, run };
  const known = bindings.findIndex((other) => other.keys.join(' ') === keys);
  if (known >= 0) bindings[known] = binding;
  else bindings.push(binding);
}

/** @param {EventTarget | null} target */
function isField(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !/^(button|checkbox|radio|submit)$/.test(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

/** @param {KeyboardEvent} event */
function press(event) {
  const isForBrowser = event.ctrlKey || event.altKey || event.metaKey || event.isComposing;
  const isModifier = /^(Shift|CapsLock|AltGraph)$/.test(event.key);
  if (event.defaultPrevented || isForBrowser || isModifier || isField(event.target)) return;
  if (document.querySelector('dialog[open]')) return;
  if (event.timeStamp - typedAt > SEQUENCE_MS) typed = [];
  typedAt = event.timeStamp;
  typed.push(event.key);
  let found = bindings.filter((binding) => typed.every((key, at) => binding.keys[at] === key));
  if (found.length === 0 && typed.length > 1) {
    typed = [event.key];
    found = bindings.filter((binding) => binding.keys[0] === event.key);
  }
  const whole = found.find((binding) => binding.keys.length === typed.length);
  if (found.length === 0 || whole) typed = [];
  if (!whole) return;
  event.preventDefault();
  whole.run(event);
}

/** Shows the list of keys. */
function list() {
  const dialog = document.getElementById('keys');
  if (!(dialog instanceof HTMLDialogElement)) return;
  const names = bindings.map(({ keys, label }) => {
    const name = document.createElement('dt');
    for (const key of keys) {
      const shown = document.createElement('kbd');
      shown.textContent = key;
      if (name.hasChildNodes()) name.append(' ');
      name.append(shown);
    }
    const what = document.createElement('dd');
    what.textContent = label;
    return [name, what];
  });
  dialog.querySelector('dl')?.replaceChildren(...names.flat());
  dialog.showModal();
}

function focusSearch() {
  const box = document.getElementById('q');
  if (!(box instanceof HTMLInputElement)) return;
  box.focus();
  box.select();
}

export function start() {
  register('/', 'Search', focusSearch);
  register('?', 'List the keys', list);
  register('g h', 'Go to the start page', () => {
    /** @type {HTMLElement | null} */ (document.querySelector('a.brand'))?.click();
  });
  register('u', 'Back to where you came from', () => history.back());
  document.addEventListener('keydown', press);
  const button = document.getElementById('show-keys');
  button?.addEventListener('click', list);
  button?.removeAttribute('hidden');
}
