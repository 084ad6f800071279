// @ts-check
// The outline of a file: marks the definition that is read, and shows the first lines of those around the screen.
import { register } from './keys.js';
import { currentLine, line, lineAt, numberOf } from './lines.js';

/** Lines above the screen that stay on it. */
const AROUND_MAX = 3;

/** How far down a line of an address is shown: see the style. */
const READ_AT = 0.4;

/** @typedef {{ link: HTMLAnchorElement, first: number, last: number }} Definition */

class Outline {
  /**
   * @param {HTMLElement} box
   * @param {HTMLElement} lines
   */
  constructor(box, lines) {
    this.box = box;
    this.lines = lines;
    /** @type {Definition[]} */
    this.definitions = [...box.querySelectorAll('li')].map((item) => {
      const link = /** @type {HTMLAnchorElement} */ (item.querySelector('a:last-child'));
      const first = Number(/\d+$/.exec(link.hash)?.[0]);
      return { link, first, last: Number(item.dataset.end ?? first) };
    });
    // One stop of the tabulator.
    for (const link of box.querySelectorAll('a')) link.tabIndex = -1;
    this.current = this.definitions[0].link;
    this.current.tabIndex = 0;
    this.around = document.createElement('div');
    this.around.className = 'around';
    this.around.ariaHidden = 'true';
    document.querySelector('.view > .bar')?.append(this.around);
  }

  update() {
    this.mark();
    this.showAround();
  }

  /** Marks the definition of the selected line if that is on the screen, else of what is read there. */
  mark() {
    const selected = currentLine()?.getBoundingClientRect();
    const isSeen = selected && selected.bottom > 0 && selected.top < innerHeight;
    const at = numberOf(isSeen ? currentLine() : null) || numberOf(lineAt(innerHeight * READ_AT));
    const before = this.definitions.filter(({ first }) => first <= at);
    const found = before.findLast(({ last }) => at <= last) ?? before.at(-1);
    const link = found?.link ?? this.definitions[0].link;
    this.current.removeAttribute('aria-current');
    if (found) link.ariaCurrent = 'location';
    if (link === this.current) return;
    this.current.tabIndex = -1;
    link.tabIndex = 0;
    this.current = link;
    this.scroll();
  }

  /** Scrolls the outline to the mark, but not the page. */
  scroll() {
    const [place, frame] = [this.current, this.box].map((element) => element.getBoundingClientRect());
    if (getComputedStyle(this.box).overflowY !== 'auto') return;
    if (place.top < frame.top || place.bottom > frame.bottom) this.box.scrollTop += place.top - frame.top - frame.height / 2;
  }

  showAround() {
    const height = lineAt()?.clientHeight ?? 0;
    const bar = this.around.parentElement?.getBoundingClientRect().bottom ?? 0;
    // The lines that are shown cover others, where definitions may begin or end.
    const covered = Math.min(this.surrounding(lineAt()).length, AROUND_MAX);
    const isScrolled = this.lines.getBoundingClientRect().top < bar;
    const found = isScrolled ? this.surrounding(lineAt(bar + covered * height)) : [];
    const shown = found.slice(-AROUND_MAX).map(({ first }) => line(first)).filter((each) => each !== null);
    const names = shown.map(({ id }) => id).join();
    if (names === this.around.dataset.shown) return;
    this.around.dataset.shown = names;
    this.around.replaceChildren(...shown.map((each) => {
      const copy = /** @type {Element} */ (each.cloneNode(true));
      copy.removeAttribute('id');
      copy.classList.remove('hit');
      for (const link of copy.querySelectorAll('a')) link.tabIndex = -1;
      return copy;
    }));
  }

  /** @param {Element | null} line */
  surrounding(line) {
    const at = numberOf(line);
    return this.definitions.filter(({ first, last }) => first < at && at <= last);
  }

  /** Goes to the outline, or back to the lines. */
  toggle() {
    const isThere = this.box.contains(document.activeElement);
    if (isThere) this.lines.focus({ preventScroll: true });
    else this.current.focus();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = this.definitions.map(({ link }) => link);
    if (event.key === 'Escape') this.toggle();
    if (!by) return;
    event.preventDefault();
    links[links.findIndex((link) => link === document.activeElement) + by]?.focus();
  }
}

export function start() {
  const box = document.getElementById('outline');
  const lines = document.getElementById('lines');
  if (!box?.querySelector('li') || !lines) return;
  const outline = new Outline(box, lines);
  let isDue = false;
  const update = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      outline.update();
    });
  };
  for (const name of ['scroll', 'resize']) addEventListener(name, update, { passive: true });
  document.addEventListener('trawl:lines', update);
  box.addEventListener('keydown', (event) => outline.press(event));
  register('o', 'To the outline, or back to the lines', () => outline.toggle());
  update();
}
