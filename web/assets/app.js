// What the pages do beyond links and forms. They work without this script.
'use strict';

// "/" focuses the search box, as in less and vi.
document.addEventListener('keydown', (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.getElementById('q');
  event.preventDefault();
  box.focus();
  box.select();
});

// Keeps defaults out of the address.
document.querySelector('form[role=search]')?.addEventListener('submit', (event) => {
  const { mode, case: letters } = event.target.elements;
  const defaults = [mode].filter((choice) => choice.value === choice.dataset.default);
  // The default of keyword search is smart case, of the other modes exact case.
  if (letters.value === (mode.value === 'keyword' ? 'auto' : 'yes')) defaults.push(letters);
  defaults.forEach((choice) => { choice.disabled = true; });
  // The form must work again when the user comes back to it.
  setTimeout(() => defaults.forEach((choice) => { choice.disabled = false; }), 0);
});

// Selects the mode's default case, unless the user chose to ignore case.
document.querySelector('form[role=search] select[name=mode]')?.addEventListener('change', (event) => {
  const letters = event.target.form.elements.case;
  if (letters.value === 'no') return;
  letters.value = event.target.value === 'keyword' ? 'auto' : 'yes';
});

const results = document.getElementById('results');
if (results?.dataset.events) follow(results.dataset);

// Shows a running search, and then the content of the finished page.
function follow(search) {
  const events = new EventSource(search.events);
  const number = new Intl.NumberFormat('en');
  const part = (id) => document.getElementById(id);
  events.addEventListener('progress', (event) => {
    const progress = JSON.parse(event.data);
    part('count').textContent = number.format(progress.matches);
    part('left').textContent = left(progress.eta_ms);
    if (progress.blocks_total === 0) return;
    part('progress').max = progress.blocks_total;
    part('progress').value = progress.blocks_done;
  });
  events.addEventListener('matches', (event) => {
    const best = JSON.parse(event.data);
    // Rendered and escaped by the server, with the template of the finished page.
    part('best').innerHTML = best.html;
  });
  const finish = async () => {
    events.close();
    const response = await fetch(search.page, { headers: { accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const main = page.querySelector('main');
    document.querySelector('main').replaceWith(main);
    document.title = page.title;
    if (main.dataset.events) setTimeout(follow, 1000, main.dataset);
  };
  let stopped = false;
  events.addEventListener('done', (event) => {
    // It goes on for others, and what has arrived until now is all that there is to see here.
    if (!stopped || !JSON.parse(event.data).error) return finish();
    events.close();
    part('best-title').textContent = 'Stopped. The best until then:';
    ['progress', 'cancel', 'left'].forEach((id) => { part(id).hidden = true; });
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
    fetch(search.search, { method: 'DELETE' });
  });
}

// The same words as on the page.
function left(ms) {
  if (ms === null) return '';
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 1) return 'almost done';
  return seconds < 100 ? `about ${seconds} s left` : `about ${Math.ceil(seconds / 60)} min left`;
}
