// Starts trawl on free ports of this machine, with everything that it writes below one directory.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGate } from './gate.js';
import { get } from './http.js';

export const TRAWL = process.env.TRAWL ?? 'target/debug/trawl';

/** Time until a server must listen: other work may stop a machine for a while. */
const START_MS = 120_000;

/** Makes a directory that is removed when the process ends. */
export function temporary() {
  const directory = mkdtempSync(join(tmpdir(), 'trawl-browser-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Runs `trawl index`.
 * @param {string} corpus a directory of packages
 * @param {string} index
 * @param {string[]} [flags]
 */
export function buildIndex(corpus, index, flags = []) {
  const run = spawnSync(TRAWL, ['index', '--each', corpus, '--index', index, ...flags], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`trawl index failed: ${run.stderr}`);
}

/**
 * Returns the number of panics of a server; undefined if its metrics need a key.
 * @param {string} url
 */
async function panicsOf(url) {
  const answer = await get(`${url}/metrics`);
  if (answer.status !== 200) return undefined;
  const total = /^trawl_panics_total (\d+)$/m.exec(answer.body.toString());
  if (!total) throw new Error('the server does not count panics');
  return Number(total[1]);
}

/**
 * Starts a server. `stop` ends it, resolves when its port is free again, and fails if it has panicked.
 * @param {string[]} args
 * @returns {Promise<{ url: string, port: number, stop: () => Promise<void> }>}
 */
export function start(args) {
  // A page that still follows a search is handed over after half a second.
  const child = spawn(TRAWL, [...args, '--drain', '1'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, TRAWL_LOG: 'error' } });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let url = '';
  const stop = async () => {
    const panics = args[0] === 'backend' ? undefined : await panicsOf(url);
    child.kill('SIGTERM');
    await ended;
    if (panics) throw new Error(`trawl ${args[0]} has panicked ${panics} times: ${said}`);
  };
  let said = '';
  process.on('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`trawl ${args[0]} does not listen after ${START_MS} ms: ${said}`));
    }, START_MS);
    const look = (/** @type {Buffer} */ bytes) => {
      said += bytes.toString();
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
      if (!port) return;
      clearTimeout(late);
      url = `http://127.0.0.1:${port}`;
      resolve({ url, port, stop });
    };
    child.stdout.on('data', look);
    child.stderr.on('data', (bytes) => { said += bytes.toString(); });
    ended.then(() => reject(new Error(`trawl ${args[0]} ended: ${said}`)));
  });
}

/**
 * Serves an index with a backend, a frontend, and a gate between them: `gate.slow(bytesPerSecond)` keeps searches
 * running, `gate.open()` lets them finish, `gate.cut()` breaks the connections.
 * @param {string} index
 * @param {string[]} [flags] of the frontend
 */
export async function startSplit(index, flags = []) {
  const directory = temporary();
  const backend = await start(['backend', '--index', index, '--listen', '127.0.0.1:0']);
  const gate = await startGate(backend.port);
  const frontend = (/** @type {number} */ port) => start([
    'frontend', '--backend', `127.0.0.1:${gate.port}`, '--spool', join(directory, 'spool'),
    '--listen', `127.0.0.1:${port}`, ...flags,
  ]);
  let server = await frontend(0);
  return {
    url: server.url,
    gate,
    /** Ends the frontend; `again` starts it on the same port. */
    async restart(/** @type {() => Promise<void>} */ meanwhile = async () => {}) {
      await server.stop();
      await meanwhile();
      server = await frontend(server.port);
    },
    async stop() {
      await server.stop();
      gate.close();
      await backend.stop();
    },
  };
}
