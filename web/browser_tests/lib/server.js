// Starts trawl on free ports of this machine, with everything that it writes below one directory.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGate } from './gate.js';

export const TRAWL = process.env.TRAWL ?? 'target/debug/trawl';

/** How long a server may take until it listens. */
const START_MS = 30_000;

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
  const run = spawnSync(TRAWL, ['index', '--each', corpus, '--out', index, ...flags], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`trawl index failed: ${run.stderr}`);
}

/**
 * Starts a server. `stop` ends it and resolves when its port is free again.
 * @param {string[]} args
 * @returns {Promise<{ url: string, port: number, stop: () => Promise<void> }>}
 */
export function start(args) {
  // A page that still follows a search is handed over after half a second.
  const child = spawn(TRAWL, [...args, '--drain', '1'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, TRAWL_LOG: 'error' } });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  process.on('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`trawl ${args[0]} does not listen after ${START_MS} ms: ${said}`));
    }, START_MS);
    const look = (/** @type {Buffer} */ bytes) => {
      said += bytes.toString();
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
      if (!port) return;
      clearTimeout(late);
      resolve({ url: `http://127.0.0.1:${port}`, port, stop });
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
