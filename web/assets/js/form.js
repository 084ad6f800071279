// @ts-check
// The search form: keeps defaults out of the address, and selects the mode's default case.

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function select(form, name) {
  return /** @type {HTMLSelectElement} */ (form.elements.namedItem(name));
}

/** @param {HTMLFormElement} form */
function leaveDefaultsOut(form) {
  const [mode, letters] = ['mode', 'case'].map((name) => select(form, name));
  const defaults = [mode].filter((choice) => choice.value === choice.dataset.default);
  // The default of keyword search is smart case, of the other modes exact case.
  if (letters.value === (mode.value === 'keyword' ? 'auto' : 'yes')) defaults.push(letters);
  defaults.forEach((choice) => { choice.disabled = true; });
  // The form must work again when the user comes back to it.
  setTimeout(() => defaults.forEach((choice) => { choice.disabled = false; }), 0);
}

export function start() {
  const form = document.querySelector('form[role=search]');
  if (!(form instanceof HTMLFormElement)) return;
  form.addEventListener('submit', () => leaveDefaultsOut(form));
  const mode = select(form, 'mode');
  mode.addEventListener('change', () => {
    const letters = select(form, 'case');
    // The user chose to ignore case.
    if (letters.value === 'no') return;
    letters.value = mode.value === 'keyword' ? 'auto' : 'yes';
  });
}
