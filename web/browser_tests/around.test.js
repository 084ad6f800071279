// What all pages share: the search form, the keys, the colours, and the way to the content.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { focuses, sequence, text, withPage } from './lib/browser.js';

/** @param {import('playwright-core').Page} page */
const focused = (page) => page.evaluate(() => document.activeElement?.id);

test('the start page says what is indexed and leads to answers', async () => {
  await withPage({}, async (page) => {
    await page.goto('/');
    assert.match(await text(page, 'main'), /10 packages/);
    await page.locator('#q').fill('open_connection');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=open_connection');
    assert.match(await page.title(), /^open_connection/);
    assert.match(await text(page, 'main mark'), /open_connection/);
  });
});

test('a search works without a script', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto('/');
    await page.locator('#q').fill('open_connection');
    await page.locator('form[role=search] button').click();
    assert.match(await text(page, 'main mark'), /open_connection/);
  });
});

test('the slash focuses the search box, and is a slash in it', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.keyboard.press('/');
    assert.equal(await focused(page), 'q');
    await page.keyboard.type('/a/');
    assert.equal(await page.locator('#q').inputValue(), '/a/');
  });
});

test('a question mark lists the keys, and Escape closes the list', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.keyboard.press('?');
    assert.match(await text(page, '#keys'), /\/ Search .*\? List the keys/);
    await sequence(page, 'g', 'h');
    assert.equal(new URL(page.url()).pathname, '/search', 'keys of the page rest while the list is open');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#keys').isVisible(), false);
  });
});

test('keys after each other lead to the start page, but not with Ctrl', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.keyboard.press('Control+g');
    await page.keyboard.press('x');
    await page.keyboard.press('h');
    assert.equal(new URL(page.url()).pathname, '/search');
    await sequence(page, 'g', 'h');
    await page.waitForURL((url) => url.pathname === '/');
  });
});

test('the first stop of the tab key skips to the content', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await focuses(page, '#main');
  });
});

test('the choice of colours lasts from the first paint of the next page on', async () => {
  const scheme = (/** @type {import('playwright-core').Page} */ page) =>
    page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  await withPage({ colorScheme: 'light' }, async (page) => {
    await page.goto('/');
    assert.equal(await scheme(page), 'light dark');
    await page.locator('#theme').selectOption('dark');
    assert.equal(await scheme(page), 'dark');
    const answer = await page.goto('/search?q=needle');
    assert.match(await answer?.text() ?? '', /<html lang="en" data-theme="dark">/);
    await page.locator('#theme').selectOption('system');
    assert.equal(await scheme(page), 'light dark');
  });
});

test('back and forward show the query of each page', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=needle');
    await page.goto('/search?q=open_connection');
    await page.goBack();
    assert.equal(await page.locator('#q').inputValue(), 'needle');
    await page.goForward();
    assert.equal(await page.locator('#q').inputValue(), 'open_connection');
  });
});

test('every example of the help leads to an answer', async () => {
  await withPage({}, async (page) => {
    await page.goto('/help');
    const examples = await page.locator('.queries a').evaluateAll((links) => links.map((link) => /** @type {any} */ (link).href));
    assert.ok(examples.length > 25);
    for (const href of examples) {
      const answer = await page.request.get(href);
      assert.equal(answer.status(), 200, href);
    }
  });
});

test('the status says what is indexed and how long queries took, without their text', async () => {
  await withPage({}, async (page) => {
    await page.goto('/search?q=open_connection_secret');
    await page.goto('/status');
    const shown = await text(page, 'main');
    assert.match(shown, /Packages 10 /);
    assert.match(shown, /Half took at most [\d.]+ m?s/);
    assert.doesNotMatch(shown, /secret/);
  });
});

test('a browser can make the server one of its search engines', async () => {
  await withPage({}, async (page) => {
    await page.goto('/');
    const address = await page.locator('link[rel=search]').getAttribute('href');
    const answer = await page.request.get(address ?? '');
    assert.match(answer.headers()['content-type'], /^application\/opensearchdescription\+xml/);
    assert.match(await answer.text(), new RegExp(`template="${new URL(page.url()).origin}/search\\?q=\\{searchTerms\\}"`));
  });
});
