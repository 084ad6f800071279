// Requests with the headers of Chromium and Firefox by turns, for what needs no page. `fetch` would send its own.
import { Agent, request } from 'node:http';
import { gunzipSync } from 'node:zlib';

const BOTH = {
  'accept-encoding': 'gzip, deflate, br, zstd',
  'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'same-origin', 'sec-fetch-user': '?1',
  'upgrade-insecure-requests': '1',
};

const BROWSERS = [{
  ...BOTH,
  'accept': 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.9',
  'sec-ch-ua': '"Chromium";v="140", "Not=A?Brand";v="24"', 'sec-ch-ua-mobile': '?0', 'sec-ch-ua-platform': '"Linux"',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
}, {
  ...BOTH,
  'accept': 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.5',
  'priority': 'u=0, i',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
}];

/** @typedef {{ status: number, headers: import('node:http').IncomingHttpHeaders, body: Buffer }} Reply */

const agent = new Agent({ keepAlive: true });
let sent = 0;

/**
 * Asks for an address and decodes what comes back. A body that breaks off is an error.
 * @param {string | URL} url
 * @returns {Promise<Reply>}
 */
export function get(url) {
  sent += 1;
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers: BROWSERS[sent % BROWSERS.length] }, (answer) => {
      /** @type {Buffer[]} */
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', (error) => reject(new Error(`${url}: ${error.message}`)));
      answer.on('end', () => {
        const whole = Buffer.concat(parts);
        try {
          const body = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole;
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
        } catch (error) {
          reject(new Error(`${url}: ${error}`));
        }
      });
    });
    asked.on('error', (error) => reject(new Error(`${url}: ${error.message}`)));
    asked.end();
  });
}
