// Runs the tests: makes a corpus, a git repository and an index of both, starts a server and a browser, and gives both to each file of tests.
//
// usage: node run.js [CONCERN...]; see scripts/ci/browser_tests.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { writeCorpus } from './lib/corpus.js';
import { writeRepository } from './lib/repository.js';
import { buildIndex, start, temporary } from './lib/server.js';

/** Files of tests that run together. Each waits for its pages most of the time. */
const TOGETHER = 4;

const QUIET = [
  '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
  '--disable-gpu',
];

const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2).map((name) => name.replace(/(\.test)?(\.js)?$/, '.test.js'));
const all = readdirSync(here).filter((name) => name.endsWith('.test.js'));
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  const concerns = all.map((name) => name.replace('.test.js', '')).join(', ');
  console.error(`no tests are called ${unknown.join(', ')}; there are: ${concerns}`);
  process.exit(2);
}

const directory = temporary();
const [corpus, repos, index] = ['corpus', 'repos', 'index'].map((name) => join(directory, name));
writeCorpus(corpus);
const repository = join(repos, 'tool.git');
writeRepository(repository);
buildIndex(corpus, index, ['--git', repository, '--ref', 'HEAD', '--ref', 'v1.0']);
const spool = join(directory, 'spool');
const server = await start(['serve', '--index', index, '--repos', repos, '--spool', spool, '--listen', '127.0.0.1:0']);
const browser = await chromium.launchServer({
  executablePath: process.env.CHROMIUM,
  args: [...QUIET, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
const tests = spawn(process.execPath, [
  '--test', `--test-concurrency=${TOGETHER}`, ...(wanted.length > 0 ? wanted : all).map((name) => join(here, name)),
], {
  stdio: 'inherit',
  env: { ...process.env, TRAWL_SITE: server.url, TRAWL_INDEX: index, TRAWL_BROWSER: browser.wsEndpoint() },
});
const status = await new Promise((resolve) => tests.once('exit', resolve));
await browser.close();
await server.stop();
process.exit(status ?? 1);
