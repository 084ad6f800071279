// @ts-check
// Copies text: the path of a file, a link, the text of lines. Buttons say for a moment that it is done, and a live
// region says it to screen readers.
import { say } from './say.js';

/** How long a button says that it is done. */
const SAID_MS = 1500;

/**
 * Without a secure connection browsers have no clipboard, but the old command.
 * @param {string} text
 */
function copyAsBefore(text) {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  if (!isDone) throw new Error('the browser refuses it');
}

/**
 * @param {HTMLElement} button
 * @param {string} what for the message: `Path`
 * @param {string} text
 */
async function copy(button, what, text) {
  const label = button.dataset.label ??= button.textContent ?? '';
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyAsBefore(text);
    say(`${what} copied`);
    button.textContent = 'Copied';
  } catch (error) {
    say(`${what} not copied: ${error}`);
    button.textContent = 'Not copied';
  }
  setTimeout(() => { button.textContent = label; }, SAID_MS);
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
  button.addEventListener('click', async () => copy(button, what, await text(button)));
}

/**
 * @param {'path' | 'link'} what
 * @param {string} title
 */
function tool(what, title) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = `Copy ${what}`;
  made.title = title;
  made.dataset.copy = what;
  return made;
}

/** Adds buttons to the boxes of results that have none. */
function equip() {
  for (const tools of document.querySelectorAll('.result-tools:not(:has([data-copy]))')) {
    tools.prepend(
      tool('path', 'Copy the path of the file'),
      tool('link', 'Copy the address of the file at this line'),
    );
  }
}

/**
 * The path within the package, as it is in the address, since the page shows escapes for some characters.
 * @param {HTMLAnchorElement} link
 */
function pathOf(link) {
  return new URL(link.href).searchParams.get('path') ?? link.textContent ?? '';
}

export function start() {
  equip();
  document.addEventListener('trawl:content', equip);
  document.addEventListener('click', (event) => {
    const target = /** @type {Element} */ (event.target);
    const pressed = target.closest?.('[data-copy]');
    const link = target.closest?.('.result')?.querySelector('a[data-open]');
    if (!(pressed instanceof HTMLElement) || !(link instanceof HTMLAnchorElement)) return;
    if (pressed.dataset.copy === 'link') copy(pressed, 'Link', link.href);
    else copy(pressed, 'Path', pathOf(link));
  });
}
