// What the words of a file mean: the card, the hint at the pointer, the outline, and the same without a script.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { violations } from './lib/axe.js';
import { focuses, text, tooWide, withPage } from './lib/browser.js';
import { writeCorpus } from './lib/corpus.js';
import { buildIndex, start, temporary } from './lib/server.js';

/** @typedef {import('playwright-core').Page} Page */

const EVIL = '<img src=x onerror=window.hacked=1>';

const method = (/** @type {string} */ name) => `    def ${name}(self):\n${'        self.count += 1\n'.repeat(40)}        return unknown_name(self)\n`;

/** @type {Record<string, string>} */
const FILES = {
  'shapes_1.0/shapes.py': `class Shape:\n    """A shape."""\n\n${method('area')}\n${method('outline')}\n\ndef draw(shape):\n    return shape.area()\n`,
  'shapes_1.0/view.py': 'import shapes\n\ndef view():\n    größe = draw(None)\n    return draw(größe)\n',
  'other_2.0/draw.py': 'def draw(canvas):\n    return canvas\n',
  [`evil_1.0/${EVIL.replaceAll('/', '')}.c`]: `/* ${EVIL} */\nint evil(void)\n{ return evil(); /* \u202e ${EVIL} */ }\n`,
  'evil_1.0/a.md': `# ${EVIL}\n\n${EVIL}\n`,
  'evil_1.0/long.c': `int first; char *text = "${'x'.repeat(9000)}"; int evil(void);\n`,
};

const SHAPES = '/show?package=shapes_1.0&path=shapes.py';
const VIEW = '/show?package=shapes_1.0&path=view.py';

/** @type {Awaited<ReturnType<typeof start>>} */
let server;

before(async () => {
  const directory = temporary();
  const [corpus, index] = [join(directory, 'corpus'), join(directory, 'index')];
  writeCorpus(corpus, FILES);
  buildIndex(corpus, index);
  server = await start(['serve', '--index', index, '--spool', join(directory, 'spool'), '--listen', '127.0.0.1:0']);
});

after(() => server.stop());

/**
 * @param {import('playwright-core').BrowserContextOptions & { allowed?: RegExp }} options
 * @param {string} from
 * @param {(page: Page) => Promise<void>} use
 */
const onPage = (options, from, use) => withPage({ baseURL: server.url, ...options }, async (page) => {
  await page.goto(from);
  if (options.javaScriptEnabled !== false) await page.locator('#show-keys:not([hidden])').waitFor();
  await use(page);
});

/**
 * Where a word of a line stands on the screen.
 * @param {Page} page
 * @param {number} line
 * @param {string} word
 */
async function place(page, line, word) {
  return page.locator(`#L${line} code`).evaluate((code, wanted) => {
    const { top, bottom } = code.getBoundingClientRect();
    if (top < 100 || bottom > innerHeight) code.scrollIntoView({ block: 'center' });
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const at = (text.textContent ?? '').search(new RegExp(`(?<![\\p{L}_])${wanted}(?![\\p{L}_])`, 'u'));
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + wanted.length);
      const { left, width, top: above, height } = range.getBoundingClientRect();
      return { x: left + width / 2, y: above + height / 2 };
    }
    throw new Error(`the line has no word ${wanted}`);
  }, word);
}

/** @param {Page} page @param {number} line @param {string} word */
async function click(page, line, word) {
  const { x, y } = await place(page, line, word);
  await page.mouse.click(x, y);
}

/** @param {Page} page @param {number} line @param {string} word */
async function open(page, line, word) {
  await click(page, line, word);
  await page.locator('.card[open]').waitFor();
}

test('a click on a word opens a card with its definitions and uses, the nearest first', () => onPage({}, VIEW, async (page) => {
  await open(page, 5, 'draw');
  const card = page.getByRole('dialog', { name: 'Definitions and uses of draw' });
  assert.deepEqual((await card.locator('.definition a').allInnerTexts()), ['shapes_1.0/shapes.py:91', 'other_2.0/draw.py:1']);
  assert.equal(await text(page, '.card .definition .muted'), 'function, by name');
  assert.equal(await text(page, '.card pre'), 'def draw(shape): return shape.area()');
  assert.match(await card.innerText(), /2 lines with uses: everywhere in shapes in shapes_1.0/);
  assert.deepEqual(await violations(page), []);
  await focuses(page, '.definition:first-child a');
  await page.keyboard.press('ArrowDown');
  await focuses(page, '.definition:last-child a');
  for (let at = 0; at < 5; at += 1) await page.keyboard.press('Tab');
  await focuses(page, '.card > button');
  await page.keyboard.press('Tab');
  await focuses(page, '.definition:first-child a');
  await page.keyboard.press('Escape');
  await focuses(page, '#lines');
  assert.equal(await card.count(), 0);
  await open(page, 5, 'draw');
  await page.keyboard.press('Enter');
  await page.waitForURL(/path=shapes.py&line=91#L91/);
}));

test('uses in the version of the file are a search', () => onPage({}, VIEW, async (page) => {
  await open(page, 4, 'draw');
  await page.locator('.card').getByRole('link', { name: 'in shapes_1.0' }).click();
  await page.waitForURL(/\/search/);
  assert.equal(await text(page, '.summary b'), '2');
}));

test('letters beyond ASCII before and in a word do not move it', () => onPage({}, VIEW, async (page) => {
  await open(page, 5, 'größe');
  assert.equal(await text(page, '.card h2'), 'größe');
  await page.mouse.click(5, 5);
  await page.locator('.card[open]').waitFor({ state: 'detached' });
}));

test('a definition in the same file is reached without another page', () => onPage({}, SHAPES, async (page) => {
  await page.evaluate(() => { /** @type {any} */ (window).isSame = true; });
  await open(page, 92, 'area');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#L4$/);
  assert.equal(await page.evaluate(() => /** @type {any} */ (window).isSame), true);
  assert.equal(await page.locator('.card[open]').count(), 0);
}));

test('a word without a definition has searches', () => onPage({}, SHAPES, async (page) => {
  await open(page, 45, 'unknown_name');
  assert.match(await text(page, '.card'), /No definition of this name is known. 2 lines with uses: everywhere/);
}));

test('a double click selects a word, and opens no card', () => onPage({}, VIEW, async (page) => {
  const { x, y } = await place(page, 5, 'draw');
  await page.mouse.dblclick(x, y);
  await page.waitForFunction(() => `${getSelection()}`.trim() === 'draw');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.card[open]').count(), 0);
}));

test('keys go from word to word, and open the card of one', () => onPage({}, VIEW, async (page) => {
  await page.keyboard.press('j');
  for (let at = 0; at < 4; at += 1) await page.keyboard.press('j');
  for (const key of ['l', 'l', 'l', 'h']) await page.keyboard.press(key);
  assert.equal(await page.evaluate(() => `${getSelection()}`), 'draw');
  await page.locator('.hint:not([hidden])').waitFor();
  assert.match(await text(page, '.hint'), /^shapes_1.0\/shapes.py:91 function/);
  await page.keyboard.press('.');
  await page.locator('.card[open]').waitFor();
  assert.equal(await text(page, '.card h2'), 'draw');
  await page.keyboard.press('Escape');
  await focuses(page, '#lines');
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.locator('.card[open] h2', { hasText: 'view' }).waitFor();
}));

test('the pointer on a word shows its definition, asked for once', () => onPage({}, VIEW, async (page) => {
  /** @type {string[]} */
  const asked = [];
  page.on('request', (request) => { if (request.url().includes('/symbol?')) asked.push(request.url()); });
  const [word, other] = [await place(page, 5, 'draw'), await place(page, 3, 'view')];
  const hint = page.locator('.hint');
  for (let at = 0; at < 2; at += 1) {
    await page.mouse.move(other.x, other.y);
    await page.mouse.move(word.x, word.y);
    await hint.waitFor();
    assert.match(await hint.innerText(), /def draw\(shape\)/);
    await page.mouse.move(5, 5);
    await hint.waitFor({ state: 'hidden' });
  }
  assert.deepEqual(asked.map((url) => url.replace(/^.*&line/, 'line')), ['line=5&column=11&uses=false']);
}));

test('the outline marks what is read, and the first lines around it stay', () => onPage({ viewport: { width: 1010, height: 500 } }, SHAPES, async (page) => {
  const boxes = await Promise.all(['.outline', '#lines'].map((part) => page.locator(part).boundingBox()));
  const [outline, lines] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0 });
  assert.ok(outline.x + outline.width <= lines.x && outline.y < 400, 'the outline is at the left');
  await page.locator('.outline').getByRole('link', { name: 'outline', exact: true }).click();
  await page.locator('.outline [aria-current]', { hasText: 'outline' }).waitFor();
  await page.locator('.around .line', { hasText: 'class Shape' }).waitFor();
  await page.mouse.move(600, 300);
  await page.mouse.wheel(0, 400);
  await page.locator('.around .line', { hasText: 'def outline' }).waitFor();
  assert.equal(await page.locator('.around .line').count(), 2);
  await page.locator('.around .line', { hasText: 'class Shape' }).click();
  await page.waitForURL(/#L1$/);
  await page.locator('.outline [aria-current]', { hasText: 'Shape' }).waitFor();
  await page.keyboard.press('o');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#L4$/);
  await page.keyboard.press('o');
  await focuses(page, '.outline [aria-current]');
  await page.keyboard.press('Escape');
  await focuses(page, '#lines');
  await page.keyboard.press('?');
  assert.match(await text(page, '#keys'), /o To the outline, or back to the lines/);
}));

test('a definition in the outline is asked in place', () => onPage({}, SHAPES, async (page) => {
  await page.getByRole('link', { name: 'About area' }).click();
  await page.locator('.card[open] h2', { hasText: 'area' }).waitFor();
}));

test('on a phone the card is at the bottom, and the page does not scroll sideways', () => onPage({ viewport: { width: 360, height: 740 } }, VIEW, async (page) => {
  await open(page, 5, 'draw');
  const box = await page.locator('.card').boundingBox();
  assert.ok(box && box.x === 0 && box.width === 360 && Math.round(box.y + box.height) === 740, JSON.stringify(box));
  assert.deepEqual(await tooWide(page), []);
}));

test('without a script every word and every definition leads to its page', () => onPage({ javaScriptEnabled: false }, SHAPES, async (page) => {
  await page.getByRole('searchbox', { name: 'Search in this file' }).fill('draw');
  await page.getByRole('button', { name: 'Define' }).click();
  await page.waitForURL(/\/symbol\?/);
  assert.match(await text(page, 'main'), /^Definitions and uses of draw In shapes_1.0\/shapes.py draw shapes_1.0\/shapes.py:91/);
  await page.goBack();
  await page.getByRole('link', { name: 'About area' }).click();
  await page.getByRole('link', { name: 'shapes_1.0/shapes.py:4', exact: true }).last().click();
  await page.waitForURL(/&line=4#L4$/);
}));

test('hostile names are only shown, also of a word behind escapes and in a line that is cut', async () => {
  const file = `/show?package=evil_1.0&path=${encodeURIComponent(EVIL)}.c`;
  for (const [address, line, word, shown] of /** @type {[string, number, string, RegExp][]} */ ([
    [file, 3, 'evil', /evil_1.0\/<img src=x onerror=window.hacked=1>.c:2 function/],
    [file, 3, 'hacked', /No definition/],
    ['/show?package=evil_1.0&path=a.md&plain=yes', 1, 'onerror', /No definition/],
    ['/show?package=evil_1.0&path=long.c', 1, 'first', /long.c:1 variable/],
    [`/symbol?package=evil_1.0&path=a.md&q=${encodeURIComponent(EVIL)}`, 0, '', /<img src=x onerror=window.hacked=1> evil_1.0\/a.md:1/],
  ])) {
    await onPage({}, address, async (page) => {
      if (word) await open(page, line, word);
      assert.match(await text(page, '.symbol'), shown, address);
      assert.equal(await page.locator('main img').count(), 0);
      assert.equal(await page.evaluate(() => 'hacked' in window), false);
    });
  }
});

test('of a version or a revision that is gone, another is asked, or the card says so', async () => {
  await withPage({}, async (page) => {
    await page.goto('/show?package=netlib_0.9&path=src/socket.c');
    await open(page, 10, 'open_connection');
    assert.match(await text(page, '.card .definition a'), /^netlib_1.0\/src\/socket.c:6/);
    await page.locator('#lines').evaluate((lines) => { lines.dataset.symbolHref += '&rev=0123456789'; });
    await open(page, 10, 'open_connection');
    assert.match(await text(page, '.card #fault'), /0123456789/);
    await page.keyboard.press('Escape');
    await page.locator('.card[open]').waitFor({ state: 'detached' });
    await page.goto('/show?package=tool&path=src/ring.c&rev=v1.0');
    await open(page, 13, 'ring_push');
    await page.locator('.card').getByRole('link', { name: 'in this revision' }).click();
    await page.waitForURL(/rev=/);
  });
});
