// Two hundred hostile strings in lines, names of files and packages, and queries: no script runs, no request leaves,
// and no page loses its shape.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { tooWide, withPage } from './lib/browser.js';
import { HOSTILE, asName } from './lib/hostile.js';
import { buildIndex, start, temporary } from './lib/server.js';

/** Pages that look at queries at once. */
const TOGETHER = 4;

/** Bytes of a query that the form sends. */
const QUERY_BYTES_MAX = 4096;

/** @type {Awaited<ReturnType<typeof start>>} */
let server;

/** Writes a file whose directory and name are bytes. */
function write(/** @type {Buffer[]} */ parts, /** @type {string | Buffer} */ content) {
  const slash = Buffer.from('/');
  mkdirSync(Buffer.concat(parts.slice(0, -1).flatMap((part) => [part, slash])), { recursive: true });
  writeFileSync(Buffer.concat(parts.flatMap((part, at) => (at > 0 ? [slash, part] : [part]))), content);
}

before(async () => {
  const directory = temporary();
  const corpus = Buffer.from(join(directory, 'corpus'));
  const lines = HOSTILE.map((text, at) => `hostileline ${at} ${text.replaceAll('\n', ' ')} end`);
  write([corpus, Buffer.from('lines_1.0'), Buffer.from('lines.c')], lines.join('\n'));
  write([corpus, Buffer.from('lines_1.0'), Buffer.from('long.js')], `hostilelong ${'<b>'.repeat(350_000)}\n`);
  const bytes = Buffer.from('hostilebytes \xff\xc0\x80\xed\xa0\x80 <script>window.hacked=1</script>\n', 'latin1');
  write([corpus, Buffer.from('lines_1.0'), Buffer.from('bytes.c')], bytes);
  HOSTILE.forEach((text, at) => {
    write([corpus, Buffer.from('names_1.0'), Buffer.concat([Buffer.from(`${at} `), asName(text)])], 'hostilename\n');
    if (at % 4 === 0) write([corpus, Buffer.concat([asName(text), Buffer.from(`${at}`)]), Buffer.from('a.c')], 'hostilepackage\n');
  });
  write([corpus, Buffer.from('markdown_1.0'), Buffer.from('README.md')], HOSTILE.map((text) => `${text}\n`).join('\n'));
  HOSTILE.forEach((text, at) => write([corpus, Buffer.from('markdown_1.0'), Buffer.from(`${at}.md`)], `# a\n\n${text}\n\n[x](${text})\n\n![y](${text})\n\nend\n`));
  const headings = HOSTILE.map((text) => `# ${text.replaceAll('\n', ' ')}\n\nhostileheading\n`);
  write([corpus, Buffer.from('lines_1.0'), Buffer.from('headings.md')], headings.join('\n'));
  write([corpus, Buffer.from('names_1.0'), Buffer.from('a\nb\r\nc\t"<i>\xff.c', 'latin1')], 'hostilename\n');
  const index = join(directory, 'index');
  buildIndex(join(directory, 'corpus'), index);
  server = await start(['serve', '--index', index, '--spool', join(directory, 'spool'), '--listen', '127.0.0.1:0']);
});

after(() => server.stop());

/**
 * What has changed the shape of a page.
 * @param {import('playwright-core').Page} page
 * @param {string} [further] elements that it may have
 */
async function faults(page, further = '') {
  const found = await page.evaluate((further) => {
    const count = (/** @type {string} */ selector) => document.querySelectorAll(selector).length;
    const shape = [...document.body.children].map((element) => element.localName).join(' ');
    const allowed = 'a abbr article aside b body button code dd details dialog div dl dt fieldset footer form h1 h2 h3 h4 '
      + 'header head html img input kbd label legend li link main mark meta nav ol option output p pre progress script section '
      + 'select small span strong summary table tbody td th thead title time tr ul caption datalist noscript i wbr';
    const names = new Set([...allowed.split(' '), ...further.split(' ')]);
    const isLogo = (/** @type {Element} */ element) => element.closest('header > .brand > svg') !== null;
    const strange = [...document.querySelectorAll('*')].filter((element) => !(names.has(element.localName) || isLogo(element))
      || [...element.attributes].some(({ name }) => name.startsWith('on') || name === 'style'));
    return [
      ...('hacked' in window ? ['a script ran'] : []),
      ...(shape === 'a header div footer dialog' ? [] : [`body has ${shape}`]),
      ...(count('main') === 1 && count('h1') === 1 && count('script') === 1 ? [] : ['main, h1 or script is not one']),
      ...strange.map((element) => `${element.localName} is not ours`),
    ];
  }, further);
  return [...found, ...await tooWide(page)];
}

test('hostile lines, names of files and names of packages are only shown', async () => {
  await withPage({ baseURL: server.url }, async (page) => {
    for (const q of ['hostileline', 'hostilename', 'hostilepackage', 'hostilelong', 'hostilebytes', 'hostileheading', 'type:path e']) {
      for (const view of ['', '&group=none', '&group=package', '&group=document']) {
        await page.goto(`/search?q=${encodeURIComponent(q)}&per_page=250${view}`);
        assert.deepEqual(await faults(page), [], `${q}${view}`);
      }
    }
    await page.goto('/show?package=lines_1.0&path=lines.c');
    assert.deepEqual(await faults(page), [], 'lines.c');
    await page.goto('/show?package=lines_1.0&path=long.js');
    assert.deepEqual(await faults(page), [], 'long.js');
  });
});

test('the page of a file with a hostile name is that file', async () => {
  await withPage({ baseURL: server.url }, async (page) => {
    await page.goto('/search?q=hostilename&per_page=250&group=none&copies=all');
    const links = await page.locator('main a[href*="/show?"]').evaluateAll(
      (all) => [...new Set(all.map((link) => /** @type {HTMLAnchorElement} */ (link).href.replace(/&line=.*/, '')))]);
    assert.ok(links.length > HOSTILE.length, `${links.length} files`);
    for (const [at, href] of links.entries()) {
      if (at % 8 > 0) continue;
      await page.goto(href);
      assert.match(await page.locator('main').innerText(), /hostilename/, href);
      assert.deepEqual(await faults(page), [], href);
    }
  });
});

test('hostile names of packages are only names on their own pages', async () => {
  await withPage({ baseURL: server.url }, async (page) => {
    await page.goto('/packages');
    assert.deepEqual(await faults(page), [], '/packages');
    const links = await page.locator('.entries a').evaluateAll(
      (all) => all.map((link) => /** @type {HTMLAnchorElement} */ (link).href));
    assert.ok(links.length > HOSTILE.length / 4, `${links.length} packages`);
    for (const [at, href] of links.entries()) {
      if (at % 4 > 0) continue;
      await page.goto(href);
      assert.match(await page.locator('.entries').innerText(), /a\.c|lines\.c|\d/, href);
      assert.deepEqual(await faults(page), [], href);
    }
    await page.goto('/skipped');
    assert.deepEqual(await faults(page), [], '/skipped');
  });
});

test('hostile Markdown is only text, links and lists', async () => {
  const markdown = 'em strong del blockquote hr br h5 h6';
  await withPage({ baseURL: server.url }, async (page) => {
    for (const path of ['/p/markdown_1.0/', ...HOSTILE.map((_, at) => `/show?package=markdown_1.0&path=${at}.md`)]) {
      await page.goto(path);
      assert.deepEqual(await faults(page, markdown), [], path);
      const links = await page.locator('.markdown a').evaluateAll((all) => all.map((link) => /** @type {HTMLAnchorElement} */ (link).protocol));
      assert.deepEqual(links.filter((protocol) => !/^(https?|mailto):$/.test(protocol)), [], path);
    }
  });
});

test('a hostile query is only a query', async () => {
  const queries = HOSTILE.filter((text) => Buffer.byteLength(text) <= QUERY_BYTES_MAX);
  const shares = Array.from({ length: TOGETHER }, (_, share) => queries.filter((_, at) => at % TOGETHER === share));
  await Promise.all(shares.map((share) => withPage({ baseURL: server.url }, async (page) => {
    for (const q of share) {
      await page.goto(`/search?q=${encodeURIComponent(q)}`, { waitUntil: 'domcontentloaded' });
      assert.deepEqual(await faults(page), [], q);
    }
  })));
});
