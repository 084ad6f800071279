// @ts-check
// A running search: shows its progress and its best matches, and then the content of the finished page.
import { fetchPage, fromEvent } from './fragment.js';

/** @param {string} id */
function part(id) {
  return /** @type {any} */ (document.getElementById(id));
}

/**
 * The same words as on the page.
 * @param {number | null} ms
 */
function left(ms) {
  if (ms === null) return '';
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 1) return 'almost done';
  return seconds < 100 ? `about ${seconds} s left` : `about ${Math.ceil(seconds / 60)} min left`;
}

/** @param {MessageEvent} event */
function showProgress(event) {
  const progress = JSON.parse(event.data);
  part('count').textContent = new Intl.NumberFormat('en').format(progress.matches);
  part('left').textContent = left(progress.eta_ms);
  if (progress.blocks_total === 0) return;
  part('progress').max = progress.blocks_total;
  part('progress').value = progress.blocks_done;
}

/** @param {MessageEvent} event */
function showMatches(event) {
  const best = JSON.parse(event.data);
  part('best').replaceChildren(fromEvent(event, best.html));
  if (best.final) part('best-title').textContent = 'The best matches (final):';
}

function showStopped() {
  part('best-title').textContent = 'Stopped. The best matches until then:';
  ['progress', 'cancel', 'left'].forEach((id) => { part(id).hidden = true; });
}

/** @param {DOMStringMap} search */
async function showFinished(search) {
  const page = await fetchPage(search.finishedHref ?? '');
  const main = page.querySelector('main');
  if (!main) return;
  document.querySelector('main')?.replaceWith(main);
  document.title = page.title;
  if (main.dataset.eventsHref) setTimeout(follow, 1000, main.dataset);
}

/** @param {DOMStringMap} search */
function follow(search) {
  const events = new EventSource(search.eventsHref ?? '');
  events.addEventListener('progress', showProgress);
  events.addEventListener('matches', showMatches);
  const finish = () => {
    events.close();
    showFinished(search);
  };
  let stopped = false;
  events.addEventListener('done', (event) => {
    // It goes on for others, and what has arrived until now is all that there is to see here.
    if (!stopped || !JSON.parse(event.data).error) return finish();
    events.close();
    showStopped();
  });
  // The search has expired or the frontend is down: the page says which.
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) finish();
  });
  part('cancel').hidden = false;
  part('cancel').addEventListener('click', () => {
    part('cancel').disabled = true;
    stopped = true;
    // The end arrives as an event.
    fetch(search.searchHref ?? '', { method: 'DELETE' });
  });
}

export function start() {
  const main = document.querySelector('main');
  if (main?.dataset.eventsHref) follow(main.dataset);
}
