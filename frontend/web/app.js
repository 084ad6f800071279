// What the pages do beyond links and forms. They work without it.
'use strict';

// "/" goes to the search box, as in less and vi.
document.addEventListener('keydown', (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.getElementById('q');
  event.preventDefault();
  box.focus();
  box.select();
});

// Unticked boxes and defaults stay out of the address.
document.querySelector('form[role=search]')?.addEventListener('submit', (event) => {
  const literal = event.target.querySelector('input[value=literal]');
  if (literal.checked) literal.disabled = true;
  // Back from the result, the form must work again.
  setTimeout(() => { literal.disabled = false; }, 0);
});

const results = document.getElementById('results');
if (results?.dataset.events) follow(results.dataset);

// Shows a search while it runs; its finished page then takes the place of this one's content.
function follow(search) {
  const events = new EventSource(search.events);
  const number = new Intl.NumberFormat('en');
  events.addEventListener('progress', (event) => {
    const progress = JSON.parse(event.data);
    document.getElementById('count').textContent = number.format(progress.matches);
    const bar = document.getElementById('progress');
    if (progress.blocks_total === 0) return;
    bar.max = progress.blocks_total;
    bar.value = progress.blocks_done;
  });
  events.addEventListener('matches', (event) => {
    // Made and escaped by the server, with the template of the finished page.
    document.getElementById('best').innerHTML = JSON.parse(event.data).html;
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
  events.addEventListener('done', finish);
  // The search is not known any more, or the frontend is away: the page itself says what is up.
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) finish();
  });
}
