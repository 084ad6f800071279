// The outline of a file, and the colours of its lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text, withPage } from './lib/browser.js';

const SOCKET = '/show?package=netlib_1.0&path=src/socket.c';

test('the outline leads to the definitions of the file', async () => {
  await withPage({}, async (page) => {
    await page.goto(SOCKET);
    const outline = page.getByRole('navigation', { name: 'Outline' });
    assert.match(await outline.innerText(), /open_connection/);
    await outline.getByRole('link', { name: 'close_connection', exact: true }).click();
    await page.waitForURL(/#L15$/);
  });
});

test('lines inside a comment have its colour, and the match keeps its mark', async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${SOCKET}&q=EINTR`);
    assert.equal(await text(page, '#L5 code'), 'and tries again after EINTR. */');
    assert.equal(await text(page, '#L5 .c-c'), 'and tries again after');
    assert.equal(await page.locator('#L6 .c-t').first().innerText(), 'int');
    assert.equal(await text(page, '#L9 mark'), 'EINTR');
  });
});
