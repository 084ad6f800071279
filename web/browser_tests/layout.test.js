// Where things are on the screen: results begin near its top, lines are links, and what stands beside a file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPage } from './lib/browser.js';

/** Sizes of a window, and the pixel at which the first result begins at the latest. 640 pixels are 1,280 at 200 %. */
const WINDOWS = [
  { width: 1280, height: 800, top: 135 },
  { width: 640, height: 400, top: 205 },
  { width: 360, height: 740, top: 270 },
  { width: 2560, height: 1440, top: 135 },
];

/** What makes the lines above the results longer. */
const QUERIES = ['/search?q=TCP_NODELAY', '/search?q=needle', '/search?q=open_connection&lang=C&kind=source', '/search?q=std::TCP_NODELAY+or+fd'];

for (const { width, height, top } of WINDOWS) {
  test(`results begin at pixel ${top} of ${height} in a window of ${width}`, () => withPage({ viewport: { width, height } }, async (page) => {
    for (const path of QUERIES) {
      await page.goto(path);
      const place = await page.locator('.result').first().boundingBox();
      assert.ok(place && place.y <= top, `${path}: ${place?.y}`);
      const line = await page.locator('.result .line').first().boundingBox();
      assert.ok(line && line.y + line.height <= height, `${path}: the first line ends at ${line && line.y + line.height}`);
    }
  }));
}

test('the line of a running search is as high as that of its answer', () => withPage({}, async (page) => {
  await page.goto('/search?q=needle');
  const answer = await page.locator('.counts').boundingBox();
  assert.ok(answer && answer.height < 45, `${answer?.height}`);
}));

test('notices and exports open over the results and move nothing', () => withPage({}, async (page) => {
  await page.goto('/search?q=std::TCP_NODELAY+or+fd');
  const top = async () => (await page.locator('.result').first().boundingBox())?.y;
  const before = await top();
  for (const menu of ['.menu.notices', '.menu:not(.notices)']) {
    await page.locator(`${menu} > summary`).click();
    await page.locator(`${menu} > ul`).waitFor();
    assert.equal(await top(), before);
    const place = await page.locator(`${menu} > ul`).boundingBox();
    assert.ok(place && place.x >= 0 && place.x + place.width <= 1280, 'it is on the screen');
  }
  assert.equal(await page.locator('.menu[open]').count(), 1, 'one menu is open');
}));

test('a click anywhere on a line opens it, and text can be selected', () => withPage({}, async (page) => {
  await page.goto('/search?q=set_option');
  const line = page.locator('.result .line.hit').first();
  const place = await line.boundingBox();
  assert.ok(place);
  await page.mouse.move(place.x + 120, place.y + 8);
  await page.mouse.down();
  await page.mouse.move(place.x + 220, place.y + 8);
  await page.mouse.up();
  assert.match(page.url(), /search/, 'a selection opens nothing');
  assert.notEqual(await page.evaluate(() => String(getSelection())), '');
  await page.mouse.click(place.x + place.width - 30, place.y + 8);
  await page.mouse.click(place.x + place.width - 30, place.y + 8);
  await page.waitForURL(/show.*#L11$/);
}));

test('without a script a whole line is a link', () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto('/search?q=set_option');
  const place = await page.locator('.result .line.hit').first().boundingBox();
  assert.ok(place);
  await page.mouse.click(place.x + place.width - 30, place.y + 8);
  await page.waitForURL(/show.*#L11$/);
}));

test('o opens the best match of a file, not its first', () => withPage({}, async (page) => {
  await page.goto('/search?q=open_connection+path%3A%3Dsrc/socket.c+package:netlib');
  const first = page.locator('.result a[data-open]').first();
  assert.match(await first.getAttribute('href') ?? '', /#L6$/, 'the definition');
  await page.keyboard.press('o');
  await page.waitForURL(/#L6$/);
}));

test('from 1,500 pixels on the outline has a column of its own', () => withPage({ viewport: { width: 1500, height: 800 } }, async (page) => {
  await page.goto('/show?package=netlib_1.0&path=src/socket.c');
  const [tree, lines, outline] = await Promise.all(['.tree', '#lines', '.outline'].map((part) => page.locator(part).boundingBox()));
  assert.ok(tree && lines && outline);
  assert.ok(tree.x + tree.width <= outline.x && outline.x + outline.width <= lines.x, 'from left to right');
  assert.ok(outline.y < 200 && lines.width > 560, `${outline.y}, ${lines.width}`);
}));

test('the directory beside a file is scrolled to it, and the page is not', () => withPage({ viewport: { width: 1280, height: 400 } }, async (page) => {
  await page.goto('/show?package=bulk1_1.0&path=src/part60.c');
  await page.waitForFunction(() => {
    const place = document.querySelector('.tree [aria-current]')?.getBoundingClientRect();
    return place && place.top > 0 && place.bottom < innerHeight;
  });
  assert.equal(await page.evaluate(() => scrollY), 0);
}));

test('on paper there are the lines and nothing to click', () => withPage({}, async (page) => {
  await page.emulateMedia({ media: 'print' });
  await page.goto('/search?q=TCP_NODELAY');
  for (const part of ['header form', '#facets', 'footer', '.tabs', '.menu']) {
    assert.equal(await page.locator(part).first().isVisible(), false, part);
  }
  assert.equal(await page.locator('h1').isVisible(), true, 'the query is the title');
  await page.goto('/show?package=netlib_1.0&path=src/socket.c');
  assert.equal(await page.locator('.tree').isVisible(), false);
  assert.equal(await page.locator('#L6').isVisible(), true);
}));
