// @ts-check
// Asks again when the server does not answer: it may be restarting.
import { fetchPage } from './fragment.js';

/** How often a page is asked for again. */
const RETRIES_MAX = 10;

/** How long to wait before that; the last time is that of all further ones. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

/**
 * Fetches one of our pages. An answer that is an error is an answer.
 * @param {string} address
 * @param {() => void} onRetry called before it waits
 */
export async function fetchPatiently(address, onRetry) {
  for (let tried = 0; ; tried += 1) {
    try {
      return await fetchPage(address);
    } catch (error) {
      if (tried === RETRIES_MAX) throw error;
      onRetry();
      const pause = RETRY_MS[Math.min(tried, RETRY_MS.length - 1)];
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }
}
