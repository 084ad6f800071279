// The page of a file: marks, ranges, exact addresses, long files, and what is shown in the place of a file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HUGE_LINES, LONG_LINES } from './lib/corpus.js';
import { focuses, text, withPage } from './lib/browser.js';

const FILE = '/show?package=netlib_1.0&path=src/socket.c';
const LONG = '/show?package=longfile_1.0&path=long.c';
const HUGE = '/show?package=longfile_1.0&path=huge.c';

/** @param {import('playwright-core').Page} page */
function highlighted(page) {
  return page.locator('.line.hit').evaluateAll((lines) => lines.map((line) => line.id));
}

/**
 * Waits until these lines are highlighted.
 * @param {import('playwright-core').Page} page
 * @param {string[]} lines
 */
async function highlights(page, lines) {
  await page.waitForFunction((wanted) => {
    const hits = [...document.querySelectorAll('.line.hit')];
    return hits.map((line) => line.id).join() === wanted;
  }, lines.join());
}

test('a whole file of 5,000 lines is in the page', () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto(LONG);
  assert.equal(await page.locator('.line').count(), LONG_LINES);
  assert.match(await text(page, '.about'), /5,000 lines/);
}));

test('n and p step through the matches of the query', () => withPage({}, async (page) => {
  await page.goto(`${FILE}&q=TCP_NODELAY`);
  assert.equal(await text(page, '#mark-count'), '2 matching lines');
  await page.keyboard.press('n');
  assert.equal(await text(page, '#mark-count'), '1 of 2');
  await page.keyboard.press('p');
  assert.equal(await text(page, '#mark-count'), '2 of 2');
  assert.equal(await page.locator('#L17 mark.current').count(), 1);
  await page.keyboard.press('n');
  assert.equal(await page.locator('#L11 mark.current').count(), 1);
}));

test('n opens the part of a very long file that has the next match', () => withPage({}, async (page) => {
  await page.goto(`${HUGE}&q=huge_25%5B05%5D00%3B&mode=regexp`);
  assert.equal(await text(page, '#mark-count'), '2 matching lines');
  await page.keyboard.press('n');
  await page.waitForURL(/#L25000$/);
  await highlights(page, ['L25000']);
  await page.keyboard.press('n');
  assert.equal(await text(page, '#mark-count'), '2 of 2');
  assert.equal(await page.locator('#L25500 mark.current').count(), 1);
}));

test('without scripts the list of matching lines leads to other parts of a file', () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto(`${HUGE}&q=huge_25000`);
  await page.locator('.mark-lines summary').click();
  await page.getByRole('link', { name: '25000' }).click();
  await page.waitForURL(/#L25000$/);
  assert.equal(await page.locator('#L25000 mark').count(), 1);
}));

test('f searches in the file, whose page keeps the query', () => withPage({}, async (page) => {
  await page.goto(FILE);
  await page.keyboard.press('f');
  await page.keyboard.type('EINTR');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=EINTR/);
  assert.equal(await page.locator('#lines mark').count(), 2);
  assert.equal(await page.locator('#find').inputValue(), 'EINTR');
}));

test('a click and a shift-click select lines, and back and forward return', () => withPage({}, async (page) => {
  await page.goto(`${FILE}&line=3#L3`);
  await page.locator('#L7 .number').click();
  assert.deepEqual(await highlighted(page), ['L7']);
  await page.locator('#L5 .number').click({ modifiers: ['Shift'] });
  assert.deepEqual(await highlighted(page), ['L5', 'L6', 'L7']);
  assert.match(page.url(), /path=src\/socket\.c#L5-L7$/);
  await page.reload();
  await highlights(page, ['L5', 'L6', 'L7']);
  await page.goBack();
  await highlights(page, ['L7']);
  await page.goForward();
  await highlights(page, ['L5', 'L6', 'L7']);
}));

test('a range in the address is highlighted, with and without line=', () => withPage({}, async (page) => {
  for (const address of [`${FILE}#L4-L6`, `${FILE}&line=4-6`, `${FILE}&line=4-6#L4-L6`, `${FILE}#L6-L4`, `${FILE}&line=9#L4-L6`]) {
    await page.goto('/');
    await page.goto(address);
    await highlights(page, ['L4', 'L5', 'L6']);
  }
}));

test('lines that only the parameter names are on the screen', () => withPage({}, async (page) => {
  for (const lines of ['120-135', '2500', '4000-3990']) {
    await page.goto('/');
    await page.goto(`${LONG}&line=${lines}`);
    await page.waitForFunction(() => {
      const top = document.querySelector('.line.hit')?.getBoundingClientRect().top ?? -1;
      return top > 0 && top < innerHeight && scrollY > 0;
    });
  }
  // The next key goes on from there.
  await page.keyboard.press('j');
  await page.waitForURL(/#L4001$/);
}));

test('a range of a long file is on the screen', () => withPage({}, async (page) => {
  await page.goto(`${LONG}#L4000-L4010`);
  await page.waitForFunction(() => {
    const top = document.getElementById('L4000')?.getBoundingClientRect().top ?? -1;
    return top > 0 && top < innerHeight;
  });
  assert.equal((await highlighted(page)).length, 11);
}));

test('lines that do not exist do no harm', () => withPage({}, async (page) => {
  for (const fragment of ['#L0', '#L99999999', '#L0-L3', '#Lx', '#L1-', '#L9999999999999999999', '#%']) {
    await page.goto('/');
    await page.goto(`${FILE}${fragment}`);
    await page.locator('#copy-path').waitFor();
    assert.deepEqual(await highlighted(page), [], fragment);
  }
  await page.goto(`${FILE}#L99999999`);
  assert.equal(await text(page, '#no-line'), 'There is no line 99,999,999: the last one is 18.');
  await page.locator('#L3 .number').click();
  assert.equal(await page.locator('#no-line').count(), 0);
  const answer = await page.goto(`${FILE}&line=99999999`);
  assert.equal(answer?.status(), 404);
  assert.match(await text(page, 'main'), /the file has 18 lines/);
  await page.locator('#fault a').first().click();
  assert.equal(await text(page, 'h1'), 'socket.c');
}));

test('y makes the address exact', () => withPage({}, async (page) => {
  await page.goto(`${FILE}#L3`);
  await page.keyboard.press('y');
  await page.waitForURL(/&hash=[0-9a-f]{64}#L3$/);
  await page.reload();
  await highlights(page, ['L3']);
}));

test('path, link and selected text can be copied', () => withPage({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.goto(`${FILE}#L14-L15`);
  await highlights(page, ['L14', 'L15']);
  for (const [button, expected] of [
    ['#copy-path', /^src\/socket\.c$/], ['#copy-link', /#L14-L15$/], ['#copy-text', /^\nvoid close_connection\(int fd\)$/],
  ]) {
    await page.locator(/** @type {string} */ (button)).click();
    await page.locator(`${button}:has-text("Copied")`).waitFor();
    assert.match(await copied(), /** @type {RegExp} */ (expected));
  }
}));

test('lines of a very long file come as one scrolls', () => withPage({}, async (page) => {
  await page.goto(HUGE);
  const count = () => page.locator('#lines .line').count();
  assert.equal(await count(), 5000);
  await page.locator('#L5000').scrollIntoViewIfNeeded();
  await page.locator('#L5001').waitFor();
  assert.equal(await page.locator('#L5001').count(), 1);
  assert.match(await text(page, '#L5001'), /huge_5001/);
}));

test('an address within a very long file shows its place', () => withPage({}, async (page) => {
  const isShown = () => page.waitForFunction(() => {
    const top = document.getElementById('L25000')?.getBoundingClientRect().top ?? -1;
    return top > 0 && top < innerHeight;
  });
  await page.goto(`${HUGE}&line=25000#L25000`);
  await isShown();
  await page.goto('/');
  await page.goto(`${HUGE}#L25000-L25002`);
  await page.waitForURL(/line=25000-25002/);
  await isShown();
  await highlights(page, ['L25000', 'L25001', 'L25002']);
  await page.goto(`${HUGE}#L${HUGE_LINES + 1}`);
  await page.locator('#L1').waitFor();
}));

test('without scripts a search in the file marks its matches', () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto(FILE);
  await page.fill('#find', 'EINTR');
  await page.press('#find', 'Enter');
  await page.waitForURL(/q=EINTR/);
  assert.equal(await page.locator('#lines mark').count(), 2);
  await page.click('.tree a:has-text("socket.h")');
  await page.waitForURL(/path=src\/socket\.h/);
  await page.click('.crumbs a:has-text("netlib_1.0")');
  await page.waitForURL(/\/p\/netlib_1\.0\//);
  assert.equal(await text(page, 'h1'), 'netlib_1.0');
}));

test('a file that is not text says why it is not shown', () => withPage({}, async (page) => {
  const answer = await page.goto('/show?package=webapp_2.1&path=assets/logo.png');
  assert.equal(answer?.status(), 404);
  assert.match(await text(page, 'main'), /is not indexed: binary/);
}));

test('a file that a rule left out says which rule', () => withPage({}, async (page) => {
  const answer = await page.goto('/show?package=webapp_2.1&path=build/out.o');
  assert.equal(answer?.status(), 404);
  assert.match(await text(page, 'main'), /is not indexed: excluded by .*\.gitignore:1:/);
}));

test('a directory in the place of a file shows its entries', () => withPage({}, async (page) => {
  for (const path of ['src', 'src/']) {
    await page.goto(`/show?package=netlib_1.0&path=${path}`);
    assert.equal(new URL(page.url()).pathname, '/p/netlib_1.0/src/');
  }
  assert.match(await text(page, '.entries'), /socket\.c .*socket\.h/);
}));

test('a version that is gone leads to the current file, and says so', () => withPage({}, async (page) => {
  await page.goto('/show?package=netlib_0.9&path=src/socket.c');
  assert.match(await text(page, '.notice'), /netlib_0\.9.*this is the file in netlib_1\.0/);
  assert.equal(await text(page, 'h1'), 'socket.c');
  const answer = await page.request.get('/api/v2/file?package=netlib_0.9&path=src/socket.c');
  assert.equal(answer.status(), 410);
  await page.goto('/show?package=netlib&path=src/socket.c');
  assert.equal(await page.locator('.notice').count(), 0, 'a name without a version is what is current');
}));

test('a result leads to the marks in its file, and n goes to the next', () => withPage({}, async (page) => {
  await page.goto('/search?q=TCP_NODELAY+path%3A%3Dsrc/socket.c');
  await page.locator('.result .line.hit .number').first().click();
  await page.waitForURL(/\/show\?.*q=TCP_NODELAY/);
  assert.equal(await text(page, '#mark-count'), '2 matching lines');
  await page.keyboard.press('n');
  assert.match(await text(page, '#mark-count'), /of 2$/);
}));

test('directories beside a file open in place', () => withPage({}, async (page) => {
  await page.goto('/show?package=netlib_1.0&path=README.md');
  const opener = page.getByRole('button', { name: 'Show what is in vendor/' });
  await opener.click();
  await page.getByRole('button', { name: 'Show what is in other/' }).click();
  await page.locator('.tree ul ul ul a:has-text("socket.c")').waitFor();
  assert.match(page.url(), /README\.md/, 'the page stays');
  await opener.click();
  assert.equal(await page.locator('.tree ul ul').first().isVisible(), false);
  await opener.click();
  await page.locator('.tree ul ul ul a:has-text("socket.c")').click();
  await page.waitForURL(/path=vendor\/other\/socket\.c/);
}));

test('t finds a file by a part of its name, from every page', () => withPage({}, async (page) => {
  for (const path of ['/', '/search?q=TCP_NODELAY&mode=literal', FILE, '/packages', '/p/netlib_1.0/', '/help', '/status']) {
    await page.goto(path);
    if (path === '/') {
      await focuses(page, '#q');
      await page.locator('#q').blur();
    }
    await page.keyboard.press('t');
    await page.keyboard.type('et.h');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/search\?q=type/);
    assert.match(await text(page, '.boxes'), /src\/socket\.h/);
  }
}));
