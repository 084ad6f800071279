// Pages of results: one box a file, what its tools do, and the keys that go through matches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completed, focuses, sequence, text, withPage } from './lib/browser.js';

/** @param {import('playwright-core').Page} page */
const numbers = (page) => page.locator('.result').first().locator('.number').allInnerTexts();

test('the first page has ten different files, each in one box', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.locator('nav.pages').waitFor();
    const names = await page.locator('.result h2').allInnerTexts();
    assert.equal(names.length, 10);
    assert.equal(new Set(names).size, 10);
    assert.match(await text(page, '.result-facts'), /500 matches/);
  });
});

test('the other lines of a file open in its box, in order', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.locator('nav.pages').waitFor();
    const before = await page.locator('.result').count();
    await page.locator('.result a[data-more]').first().click();
    await page.locator('.result').first().locator('.hit').nth(99).waitFor();
    assert.match(await text(page, '.result .more'), /^400 more in this file$/);
    await page.locator('.result a[data-more]').first().click();
    await page.locator('.result').first().locator('.hit').nth(199).waitFor();
    const lines = (await numbers(page)).map(Number);
    assert.deepEqual(lines.slice(0, 200), Array.from({ length: 200 }, (_, at) => at + 1));
    assert.equal(await page.locator('.result').count(), before, 'the other boxes stay');
    assert.equal(new URL(page.url()).search, '?q=needle');
  });
});

test('without a script the other lines of a file are a page', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto('/search?q=needle&group=document');
    await page.waitForSelector('nav.pages');
    await page.locator('a[data-more]').first().click();
    await page.waitForURL(/path/);
    assert.equal(await page.locator('.result').count(), 1);
    assert.equal(await page.locator('.hit').count(), 100);
    await page.locator('a[data-more]').click();
    await page.waitForURL(/from=/);
    assert.equal(await page.locator('.hit').first().locator('.number').innerText(), '101');
  });
});

test('tabs and keys group by line and by package', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=TCP_NODELAY');
    await page.locator('.tabs a', { hasText: 'By line' }).click();
    await page.waitForURL(/group=none/);
    assert.equal(await text(page, '.tabs [aria-current]'), 'By line');
    await sequence(page, 'g', 'p');
    await page.waitForURL(/group=package/);
    assert.match(await text(page, '.package h2'), /match/);
    await page.goBack();
    assert.equal(await text(page, '.tabs [aria-current]'), 'By line');
  });
});

test('keys go from match to match and open one', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=open_connection');
    const current = () => page.evaluate(() => {
      const all = [...document.querySelectorAll('.line.hit')];
      return all.findIndex((line) => line.classList.contains('current'));
    });
    await page.keyboard.press('k');
    const last = await page.locator('.line.hit').count() - 1;
    assert.equal(await current(), last, 'k begins at the end');
    await page.keyboard.press('j');
    assert.equal(await current(), last, 'and stays there');
    for (let step = 0; step < last; step += 1) await page.keyboard.press('k');
    assert.equal(await current(), 0);
    await page.keyboard.press('j');
    assert.equal(await current(), 1);
    await page.keyboard.press('o');
    await page.waitForURL(/\/show\?/);
    await page.goBack();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/show\?/);
  });
});

test('a box copies its path and a link to the match', async () => {
  await withPage({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.goto('/search?q=open_connection+package%3Anetlib+path%3Asrc%2Fsocket.c');
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const box = page.locator('.result', { has: page.locator('h2', { hasText: 'netlib_1.0/src/socket.c' }) });
    await box.hover();
    await box.locator('button', { hasText: 'copy path' }).click();
    await box.locator('button', { hasText: 'copied' }).waitFor();
    assert.equal(await copied(), 'src/socket.c');
    await box.locator('button', { hasText: 'copy link' }).click();
    await page.waitForFunction(() => navigator.clipboard.readText().then((has) => has.startsWith('http')));
    await page.goto(await copied());
    assert.match(page.url(), /#L\d+$/);
  });
});

test('the tools of a box take no room, move nothing when they appear, and do not hide the path', async () => {
  await withPage({ viewport: { width: 650, height: 900 } }, async (page) => {
    await page.goto('/search?q=TCP_NODELAY+path%3Avendor');
    const box = page.locator('.result').first();
    const place = (/** @type {string} */ selector) => box.locator(selector).first().evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return { left, right, top, bottom };
    });
    const places = () => Promise.all(['h2', '.result-facts', '.line'].map(place));
    const before = await places();
    const [path, facts] = before;
    assert.ok(facts.top < path.bottom, 'the facts stand on the line of the path');
    await box.hover();
    await page.waitForFunction(() => getComputedStyle(document.querySelector('.result-tools') ?? document.body).opacity === '1');
    assert.deepEqual(await places(), before);
    const tools = await place('.result-tools');
    assert.ok(tools.left >= path.right, `the tools begin at ${tools.left}, the path ends at ${path.right}`);
    assert.ok(tools.top < path.bottom, 'the tools stand on the line of the path');
  });
});

test('copies of a file are folded below it, and lead to each', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto('/search?q=set_option');
    assert.equal(await page.locator('.result').count(), 1);
    const copies = page.locator('.copies');
    assert.match(await copies.innerText(), /and 2 copies/);
    await copies.locator('summary').click();
    const names = await copies.locator('li').allInnerTexts();
    assert.deepEqual(names.sort(), ['netlib_1.0/vendor/other/socket.c', 'webapp_2.1/app/copy/socket.c']);
    await copies.locator('a', { hasText: 'vendor' }).click();
    await page.waitForURL(/path=vendor\/other\/socket\.c/);
    await page.goBack();
    await page.getByRole('link', { name: 'show all copies' }).click();
    await page.waitForURL(/copies=all/);
    assert.equal(await page.locator('.result').count(), 3);
  });
});

test('pages of results lead on and back', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.locator('nav.pages').waitFor();
    const first = await page.locator('.result h2').allInnerTexts();
    await page.keyboard.press(']');
    await page.waitForURL(/page=1/);
    const second = await page.locator('.result h2').allInnerTexts();
    assert.equal(new Set([...first, ...second]).size, 20, 'twenty different files');
    await page.getByRole('link', { name: '6', exact: true }).click();
    await page.waitForURL(/page=5/);
    assert.equal(await page.locator('.result').count(), 10);
    assert.equal(await page.locator('.pages a[rel=next]').count(), 0, 'the last page');
    await page.goBack();
    await page.keyboard.press('[');
    await page.waitForURL((url) => !url.search.includes('page='));
    assert.deepEqual(await page.locator('.result h2').allInnerTexts(), first);
  });
});

test('from the start page to a match in a file and back by keyboard alone', async () => {
  await withPage({}, async (page) => {
    await page.goto('/');
    await focuses(page, '#q');
    await page.keyboard.type('set_option');
    await page.keyboard.press('Enter');
    await page.waitForURL(/search/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#L11$/);
    assert.equal(await page.locator('.hit').getAttribute('id'), 'L11');
    await page.goBack();
    await page.waitForURL(/search/);
    assert.equal(await page.locator('#q').inputValue(), 'set_option');
  });
});

test('the start page lists the last searches of this browser, and forgets them', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=open_connection&page=0');
    await page.goto('/search?q=%3Cb%3Eneedle&mode=literal');
    await page.goto('/');
    assert.deepEqual(await page.locator('#recent li').allInnerTexts(), ['<b>needle', 'open_connection']);
    await page.locator('#recent a').first().click();
    await page.waitForURL(/mode=literal/);
    await page.goto('/');
    await page.locator('#recent button').click();
    await page.reload();
    assert.equal(await page.locator('#recent').count(), 0);
  });
});

test('the last searches that are like what is typed are offered below the box', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=open_connection+lang%3Ac');
    await page.goto('/search?q=needle&mode=literal');
    await page.goto('/');
    const box = page.getByRole('combobox', { name: 'What to search for' });
    await box.press('ArrowDown');
    await completed(page);
    assert.equal(await page.getByRole('option', { name: 'needle searched before' }).count(), 1);
    assert.deepEqual(await page.locator('#completions code').allInnerTexts(), ['needle', 'open_connection lang:c']);
    await box.pressSequentially('CONN');
    await completed(page);
    assert.equal(await page.locator('#completions li').count(), 1);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=open_connection\+lang%3Ac$/);
  });
});

test('keys change the options and search again', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=open_connection');
    await sequence(page, 's', 'w');
    await page.waitForURL(/word=yes/);
    await sequence(page, 's', 'm');
    await page.waitForURL(/mode=literal/);
  });
});

test('a fault of the query is shown with the query below it, and read out with the box', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=ab%5Bc&mode=regexp');
    assert.equal(await page.locator('#q').inputValue(), 'ab[c');
    assert.match(await page.locator('pre.caret').innerText(), /ab\[c\n {2}\^/);
    const described = await page.locator('#q').getAttribute('aria-describedby');
    assert.equal(described, 'fault');
    assert.match(await text(page, '#fault'), /\w/);
    assert.equal(await page.locator('#q').getAttribute('aria-invalid'), 'true');
  });
});
