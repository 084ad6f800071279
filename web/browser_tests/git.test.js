// Files of a git repository: blame, history and commits.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { violations } from './lib/axe.js';
import { text, tooWide, withPage } from './lib/browser.js';
import { TRAWL, start, temporary } from './lib/server.js';

/** @type {Awaited<ReturnType<typeof start>>} */
let server;

/**
 * Runs a program to its end.
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  const done = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(done.status, 0, `${program} ${args.join(' ')}: ${done.error ?? done.stderr}`);
}

before(async () => {
  const directory = temporary();
  const repository = join(directory, 'repos', 'tool');
  mkdirSync(repository, { recursive: true });
  const git = (/** @type {string[]} */ ...args) =>
    run('git', ['-C', repository, '-c', 'user.name=Ada script', '-c', 'user.email=a@example.org', ...args]);
  git('init', '-q', '-b', 'main');
  const lines = ['int first;', 'int second;', 'int third;'];
  for (let count = 1; count <= lines.length; count += 1) {
    writeFileSync(join(repository, count < 3 ? 'old.c' : 'new.c'), `${lines.slice(0, count).join('\n')}\n`);
    if (count === 3) git('rm', '-q', '--cached', 'old.c');
    git('add', count < 3 ? 'old.c' : 'new.c');
    git('commit', '-q', '-m', `Add ${lines[count - 1]} <b>\n\nBecause of <i>.`);
  }
  const index = join(directory, 'index');
  run(TRAWL, ['index', '--git', repository, '--out', index]);
  const spool = join(directory, 'spool');
  const repos = join(directory, 'repos');
  server = await start(['serve', '--index', index, '--repos', repos, '--spool', spool, '--listen', '127.0.0.1:0']);
});

after(() => server.stop());

test('each line has its commit, and the blame before it is a click away', () => withPage({ baseURL: server.url }, async (page) => {
  await page.goto('/show?package=tool&path=new.c');
  await page.getByRole('link', { name: 'Blame', exact: true }).click();
  await page.locator('#L3 .blame a').first().waitFor();
  assert.equal(await page.locator('.blame.starts').count(), 3);
  assert.match(await text(page, '#L2 .blame'), /^\d{4}-\d\d-\d\d Ada script/);
  assert.match(await page.locator('#L3 .blame a').first().getAttribute('title') ?? '', /Add int third; <b>/);
  assert.deepEqual(await tooWide(page), []);
  assert.deepEqual(await violations(page), []);
  await page.locator('#L3 .blame .before').click();
  await page.waitForURL(/path=old\.c/);
  assert.equal(await page.locator('.line').count(), 2, 'the file as it was');
  await page.getByRole('link', { name: 'Hide blame' }).click();
  await page.waitForURL((url) => !url.search.includes('blame'));
  assert.equal(await page.locator('.blame').count(), 0);
}));

test('from a file to its history, to a commit, and to the file as it was', () => withPage({ baseURL: server.url }, async (page) => {
  await page.goto('/show?package=tool&path=new.c');
  await page.getByRole('link', { name: 'History' }).click();
  assert.match(await text(page, '.commits'), /Add int third; <b>/);
  assert.deepEqual(await violations(page), []);
  await page.getByRole('link', { name: 'Add int third; <b>' }).click();
  assert.equal(await text(page, 'h1'), 'Add int third; <b>');
  assert.match(await text(page, '.message'), /Because of <i>\./);
  assert.match(await text(page, '.changes'), /new\.c added.*old\.c removed/);
  assert.deepEqual(await violations(page), []);
  await page.setViewportSize({ width: 360, height: 740 });
  assert.deepEqual(await tooWide(page), []);
  await page.locator('.changes').getByRole('link', { name: 'old.c', exact: true }).click();
  await page.waitForURL(/path=old\.c&rev=/);
  assert.equal(await page.locator('.line').count(), 2);
}));
