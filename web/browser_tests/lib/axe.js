// Accessibility, as axe-core judges it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The lines of a long file after its first 200: axe would look at thousands of the same kind for a minute. */
const MORE_LINES = '.chunk ~ .chunk';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Returns a line for each violation on the page.
 * @param {import('playwright-core').Page} page
 * @param {string[]} [rules] by default all
 * @returns {Promise<string[]>}
 */
export async function violations(page, rules) {
  // The policy of the page does not hold for what the browser's own protocol runs.
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(AXE);
  return page.evaluate(async ([exclude, rules]) => {
    const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
    const { violations } = await /** @type {any} */ (window).axe.run({ exclude }, options);
    return violations.flatMap((/** @type {any} */ { id, nodes }) => nodes.map((/** @type {any} */ node) =>
      `${id}: ${node.html.slice(0, 160)} ${node.any.map((/** @type {any} */ it) => it.message).join('; ')}`));
  }, /** @type {const} */ ([MORE_LINES, rules]));
}
