// A TCP proxy before a backend, which lets its answers through at once, slowly, or not at all.
import { connect, createServer } from 'node:net';

/** How often a slow gate lets bytes through. */
const EVERY_MS = 50;

/** @param {number} target the port of the backend */
export async function startGate(target) {
  let rate = Infinity;
  /** @type {Set<{ waiting: Buffer[], down: import('node:net').Socket, up: import('node:net').Socket }>} */
  const pairs = new Set();
  const release = () => {
    for (const pair of pairs) {
      let allowed = rate * (EVERY_MS / 1000);
      while (pair.waiting.length > 0 && allowed > 0) {
        const bytes = pair.waiting[0];
        const part = bytes.subarray(0, Math.min(bytes.length, allowed));
        pair.down.write(part);
        allowed -= part.length;
        if (part.length === bytes.length) pair.waiting.shift();
        else pair.waiting[0] = bytes.subarray(part.length);
      }
      if (pair.waiting.length === 0) pair.up.resume();
    }
  };
  const timer = setInterval(release, EVERY_MS);
  const server = createServer((down) => {
    const up = connect(target, '127.0.0.1');
    const pair = { waiting: /** @type {Buffer[]} */ ([]), down, up };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      down.destroy();
      up.destroy();
    };
    for (const socket of [down, up]) socket.on('error', end).on('close', end);
    down.pipe(up);
    up.on('data', (bytes) => {
      if (rate === Infinity && pair.waiting.length === 0) return void down.write(bytes);
      pair.waiting.push(bytes);
      up.pause();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    port: address.port,
    /** Lets everything through. */
    open() {
      rate = Infinity;
      release();
    },
    /** @param {number} bytesPerSecond on each connection */
    slow(bytesPerSecond) {
      rate = bytesPerSecond;
    },
    /** Breaks all connections. New ones are accepted. */
    cut() {
      for (const { down } of pairs) down.destroy();
    },
    close() {
      clearInterval(timer);
      for (const { down } of pairs) down.destroy();
      server.close();
    },
  };
}
