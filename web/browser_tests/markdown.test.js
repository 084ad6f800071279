// Markdown as people read it: READMEs below the files of a package, and files; and what a repository has besides text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violations } from './lib/axe.js';
import { text, tooWide, withPage } from './lib/browser.js';

const README = '/show?package=netlib_1.0&path=README.md';

test('a README is rendered, and its links lead to what is there', () => withPage({}, async (page) => {
  await page.goto('/p/netlib_1.0/');
  assert.equal(await text(page, '.readme h3'), 'netlib');
  assert.match(await text(page, '.readme'), /Connections for <everybody>\. See open_connection in the source/);
  assert.equal(await page.locator('.readme table td').first().innerText(), 'open_connection');
  assert.equal(await page.locator('.readme').getByRole('link', { name: 'second step' }).count(), 0, 'it does not exist');
  await page.locator('.readme').getByRole('link', { name: 'its definition' }).click();
  await page.waitForURL(/path=src\/socket\.c&line=6#L6$/);
  await page.goBack();
  await page.locator('.readme').getByRole('link', { name: 'tests' }).click();
  assert.equal(await text(page, 'h1'), 'tests');
}));

test('nothing of a README runs, and no image of another site is loaded', () => withPage({}, async (page) => {
  // Requests to other sites are faults of every page.
  await page.goto(README);
  assert.equal(await page.evaluate(() => 'hacked' in window), false);
  assert.equal(await page.locator('#rendered img').count(), 0);
  assert.equal(await page.getByRole('link', { name: 'a chart' }).getAttribute('href'), 'https://example.org/chart.png');
  assert.equal(await page.getByText('script', { exact: true }).locator('xpath=self::a').count(), 0);
  assert.deepEqual(await violations(page), []);
  await page.setViewportSize({ width: 360, height: 740 });
  assert.deepEqual(await tooWide(page), []);
}));

test('a Markdown file has its source a click away, which links to lines show', () => withPage({}, async (page) => {
  await page.goto(README);
  await page.locator('#rendered').getByRole('link', { name: 'below' }).click();
  await page.waitForURL(/#md-how-to-use-it$/);
  await page.getByRole('link', { name: 'Source', exact: true }).click();
  assert.match(await text(page, '#L1'), /# netlib/);
  await page.getByRole('link', { name: 'Rendered' }).click();
  assert.equal(await text(page, '#rendered h2'), 'netlib');
  await page.goto('/');
  await page.goto(`${README}#L3-L4`);
  await page.waitForFunction(() => document.querySelectorAll('.line.hit').length === 2);
  await page.goto(`${README}&q=manual`);
  assert.equal(await page.locator('#lines mark').count(), 4, 'matches are marked in the source');
}));

test('images and links of a repository are shown', () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto('/p/tool/');
  const image = page.locator('.readme img');
  assert.equal(await image.getAttribute('alt'), 'the ring');
  assert.equal(await image.evaluate((each) => /** @type {HTMLImageElement} */ (each).naturalWidth), 1);
  await page.locator('.readme').getByRole('link', { name: 'its other name' }).click();
  assert.match(await text(page, '.notice'), /symbolic link/);
  assert.match(await text(page, 'main'), /Back to the \[start\]/, 'its name says nothing of Markdown');
  await page.goto('/show?package=tool&path=docs/ring.png');
  assert.equal(await page.locator('main img').evaluate((each) => /** @type {HTMLImageElement} */ (each).naturalWidth), 1);
  await page.goto('/show?package=tool&path=documents/guide.md&rev=main');
  assert.match(await text(page, 'main'), /Back to the start/);
}));

test('the description of the API and of problems has no marks of Markdown', () => withPage({}, async (page) => {
  for (const path of ['/api', '/problems']) {
    await page.goto(path);
    assert.doesNotMatch(await text(page, 'main'), /`/, path);
    assert.ok(await page.locator('main p code, main td code').count() > 3, path);
  }
}));

test('the page of an error leads to what was meant', () => withPage({}, async (page) => {
  await page.goto('/show?package=netlib_1.0&path=src/sockett.c');
  await page.locator('#fault').getByRole('link', { name: 'src/socket.c' }).click();
  assert.equal(await text(page, 'h1'), 'socket.c');
  await page.goto('/show?package=netlub_1.0&path=src/socket.c');
  assert.match(await text(page, '#fault'), /no package netlub_1.0 is indexed/);
  await page.locator('#fault').getByRole('link', { name: 'netlib', exact: true }).click();
  assert.equal(await text(page, 'h1'), 'socket.c');
  await page.goto('/show?package=netlib_1.0&path=src/socket.c&line=x');
  await page.getByRole('link', { name: 'The same without line=x' }).click();
  assert.equal(await text(page, 'h1'), 'socket.c');
  await page.goto('/search?q=socket(&mode=regexp');
  await page.getByRole('link', { name: 'Search for the text socket(' }).click();
  await page.waitForURL(/mode=literal/);
  assert.match(await text(page, 'main mark'), /socket\(/);
}));
