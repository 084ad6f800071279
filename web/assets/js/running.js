// @ts-check
// A running search: progress, the best so far in boxes that do not move, and then the page of the answer.
import { fromEvent } from './fragment.js';
import { fetchPatiently } from './patience.js';
import { replace } from './replace.js';
import { say } from './say.js';
import { listen } from './stream.js';

/** Boxes that are filled while a search runs. */
const BOXES_MAX = 10;

/** How long a page that still runs waits before it is followed. */
const AGAIN_MS = 300;

/** @param {string} id */
function part(id) {
  return /** @type {any} */ (document.getElementById(id));
}

/** @param {number} number */
function grouped(number) {
  return new Intl.NumberFormat('en').format(number);
}

/** Whether somebody looks at the boxes: then they are not replaced without being asked. */
let isRead = false;

function watchReader() {
  isRead = false;
  const boxes = part('boxes');
  const note = () => { isRead = true; };
  boxes?.addEventListener('pointermove', note);
  boxes?.addEventListener('focusin', note);
  boxes?.addEventListener('selectstart', note);
  return () => isRead || window.scrollY > 8;
}

/** The boxes that came last, while the page shows others. @type {DocumentFragment | null} */
let better = null;

/** @param {ParentNode} boxes */
function keysOf(boxes) {
  return [...boxes.querySelectorAll('[data-box]')].map((box) => box.getAttribute('data-box'));
}

/**
 * Fills empty places with new boxes. What is on the screen stays where it is; better boxes wait for a click.
 * @param {MessageEvent} event
 */
function showBoxes(event) {
  const place = part('boxes');
  const fresh = fromEvent(event, JSON.parse(event.data).html);
  const shown = keysOf(place);
  const wanted = keysOf(fresh);
  for (const box of fresh.querySelectorAll('[data-box]')) {
    const isThere = shown.includes(box.getAttribute('data-box'));
    if (isThere || place.childElementCount >= BOXES_MAX) continue;
    place.append(box.cloneNode(true));
  }
  const news = wanted.filter((key) => !keysOf(place).includes(key)).length;
  better = news > 0 ? fresh : null;
  const button = part('better');
  button.hidden = news === 0;
  button.textContent = news === 1 ? 'Show 1 better file' : `Show ${news} better files`;
  document.dispatchEvent(new CustomEvent('trawl:content'));
}

function showBetter() {
  if (better) part('boxes').replaceChildren(...better.children);
  better = null;
  part('better').hidden = true;
  document.dispatchEvent(new CustomEvent('trawl:content'));
}

/** @param {MessageEvent} event */
function showProgress(event) {
  const progress = JSON.parse(event.data);
  part('count').textContent = grouped(progress.matches);
  part('left').textContent = progress.left;
  part('left').className = '';
  if (progress.blocks_total === 0) return;
  part('progress').max = progress.blocks_total;
  part('progress').value = progress.blocks_done;
}

/** @param {string} text */
function showLost(text) {
  part('left').textContent = text;
  part('left').className = 'lost';
}

/** @param {Document} page */
function showPage(page) {
  const [old, fresh] = [document, page].map((each) => each.querySelector('.columns'));
  if (!old || !fresh) return;
  replace(old, fresh);
  document.title = page.title;
  document.dispatchEvent(new CustomEvent('trawl:content'));
  // It may show a search that runs: of a server that was restarted, for example.
  setTimeout(start, AGAIN_MS);
}

/** Hides what belongs to a search that runs. Returns whether the focus was on it. */
function endProgress() {
  const hadFocus = document.activeElement === part('stop');
  part('progress').classList.add('ended');
  part('stop').hidden = true;
  return hadFocus;
}

/**
 * Shows the answer at once, or behind a button if somebody reads what is there.
 * @param {Document} page
 * @param {boolean} isAwaited
 */
function showAnswer(page, isAwaited) {
  const summary = page.querySelector('.summary');
  const isRunning = page.getElementById('progress') !== null;
  // Only the end is told, not progress.
  say(isRunning ? '' : `${summary?.textContent ?? 'The search has ended'}`);
  if (isAwaited || !summary) {
    showPage(page);
    return;
  }
  const hadFocus = endProgress();
  part('count').parentElement.replaceChildren(...summary.cloneNode(true).childNodes);
  const button = part('better');
  button.hidden = false;
  button.className = 'wanted';
  button.textContent = 'Show the results';
  if (hadFocus) button.focus();
  button.onclick = () => {
    showPage(page);
    window.scrollTo({ top: 0 });
    document.getElementById('main')?.focus({ preventScroll: true });
  };
}

/**
 * The client has stopped a search that goes on for others: what has arrived is all that there is to see.
 * @param {DOMStringMap} search
 */
function showStopped(search) {
  const hadFocus = endProgress();
  const text = `Stopped by you: ${part('count').textContent} so far`;
  const link = document.createElement('a');
  link.href = search.followHref ?? '';
  link.className = 'action';
  link.textContent = 'Continue';
  part('count').parentElement.replaceChildren(text, link);
  if (hadFocus) link.focus();
  say(text);
}

/** @param {DOMStringMap} search */
function follow(search) {
  const isReading = watchReader();
  let stopped = false;
  const finish = async () => {
    events.close();
    try {
      const again = () => showLost('The server does not answer, trying again…');
      showAnswer(await fetchPatiently(search.finishedHref ?? '', again), stopped || !isReading());
    } catch {
      showLost('The server does not answer. Reload the page to try again.');
    }
  };
  /** @param {MessageEvent} event */
  const end = (event) => {
    if (!stopped || !JSON.parse(event.data).error) {
      finish();
      return;
    }
    events.close();
    showStopped(search);
  };
  /** @param {boolean} isMoving */
  const lost = (isMoving) => {
    showLost(isMoving ? 'The search goes on with another server…' : 'The connection broke, trying again…');
  };
  // If the server refuses, the page says why.
  const handlers = { progress: showProgress, boxes: showBoxes, done: end };
  const events = listen(search.eventsHref ?? '', handlers, lost, finish);
  part('better').onclick = showBetter;
  part('stop').hidden = false;
  part('stop').onclick = () => {
    if (stopped) return;
    stopped = true;
    // A button that is disabled loses the focus.
    part('stop').ariaDisabled = 'true';
    // The end arrives as an event.
    fetch(search.searchHref ?? '', { method: 'DELETE' }).catch(() => showLost('The server does not answer'));
  };
}

export function start() {
  const main = document.querySelector('main');
  if (main?.dataset.eventsHref) follow(main.dataset);
}
