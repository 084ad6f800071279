// @ts-check
// Other versions of a file: its menu of versions, and the blame before a commit.
import { register } from './keys.js';
import { currentLine, numberOf } from './lines.js';
import { say } from './say.js';

/** Goes to the file in another version; if there are several, the focus goes to the first of them. */
function otherVersion() {
  const others = '.versions a.name:not([aria-current])';
  const links = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(others));
  if (links.length === 1) links[0].click();
  else openVersions();
}

/** Goes to the blame before the commit of the line, at the line. */
function blameBefore() {
  const line = currentLine();
  let start = line;
  while (start && !start.querySelector('.blame a')) start = start.previousElementSibling;
  const link = start?.querySelector('.blame .before');
  if (!(link instanceof HTMLAnchorElement)) {
    say('No earlier commit has this line');
    return;
  }
  const [page, first] = link.href.split('#L');
  location.href = `${page}#L${Number(first ?? 1) + numberOf(line) - numberOf(start)}`;
}

/** Opens the menu of versions. */
function openVersions() {
  const menu = document.querySelector('details.versions');
  if (!(menu instanceof HTMLDetailsElement)) return;
  menu.open = true;
  const first = menu.querySelector('[open] a');
  if (first instanceof HTMLElement) first.focus();
}

export function start() {
  if (!document.getElementById('lines')) return;
  register('v', 'The file in another version', otherVersion);
  document.getElementById('other-version')?.addEventListener('click', (event) => {
    event.preventDefault();
    openVersions();
  });
  if (document.querySelector('.blame')) register('B', 'The blame before the commit of this line', blameBefore);
}
