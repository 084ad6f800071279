// @ts-check
// Copies text, and says so to screen readers too.

/**
 * Says something in the page's live region, and beside the mouse as the button's text for a moment.
 * @param {string} text
 */
export function say(text) {
  const region = document.getElementById('said');
  if (region) region.textContent = text;
}

/**
 * Without a secure connection browsers have no clipboard, but the old command.
 * @param {string} text
 */
function copyAsBefore(text) {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/**
 * @param {string} text
 * @param {string} what for the message: `Path`
 */
export async function copy(text, what) {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyAsBefore(text);
    say(`${what} copied`);
  } catch (error) {
    say(`${what} not copied: ${error}`);
  }
}

/**
 * Makes a button copy what `text` returns.
 * @param {string} id
 * @param {string} what
 * @param {(button: HTMLButtonElement) => string | Promise<string>} text
 */
export function copiesOnClick(id, what, text) {
  const button = document.getElementById(id);
  if (!(button instanceof HTMLButtonElement)) return;
  const label = button.textContent;
  button.addEventListener('click', async () => {
    await copy(await text(button), what);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
