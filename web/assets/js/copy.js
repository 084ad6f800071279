// @ts-check
// Copies the path of a file and the link to it from its box, and a link that is to be shared.

/**
 * @param {string} label
 * @param {string} title
 */
function button(label, title) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = label;
  made.title = title;
  made.dataset.copy = label;
  return made;
}

/** Adds the buttons to the boxes that have none. */
function equip() {
  for (const tools of document.querySelectorAll('.result-tools:not(:has([data-copy]))')) {
    tools.prepend(
      button('copy path', 'Copy the path of the file'),
      button('copy link', 'Copy the address of the file at this line'),
    );
  }
}

/**
 * @param {HTMLElement} place says for a moment that it is done
 * @param {string} text
 */
async function copy(place, text) {
  const label = place.textContent;
  try {
    await navigator.clipboard.writeText(text);
    place.textContent = 'copied';
  } catch {
    // Without HTTPS there is no clipboard.
    window.prompt('Copy this:', text);
    return;
  }
  setTimeout(() => { place.textContent = label; }, 1200);
}

export function start() {
  equip();
  document.addEventListener('trawl:content', equip);
  document.addEventListener('click', (event) => {
    const target = /** @type {Element} */ (event.target);
    const pressed = target.closest?.('[data-copy]');
    const link = target.closest?.('.result')?.querySelector('a[data-open]');
    if (!(pressed instanceof HTMLElement) || !(link instanceof HTMLAnchorElement)) return;
    copy(pressed, pressed.dataset.copy === 'copy link' ? link.href : pathOf(link));
  });
}

/**
 * The path within the package, as it is in the address, since the page shows escapes for some characters.
 * @param {HTMLAnchorElement} link
 */
function pathOf(link) {
  return new URL(link.href).searchParams.get('path') ?? link.textContent ?? '';
}
