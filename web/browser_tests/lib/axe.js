// Accessibility, as axe-core judges it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Returns a line for each violation on the page.
 * @param {import('playwright-core').Page} page of a context with `bypassCSP`, since axe is a script of its own
 * @returns {Promise<string[]>}
 */
export async function violations(page) {
  // Within the page's own policy: the protocol's evaluation is not subject to it.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await /** @type {any} */ (window).axe.run(document, { resultTypes: ['violations'] });
    return violations.flatMap((/** @type {any} */ { id, nodes }) => nodes.map((/** @type {any} */ node) =>
      `${id}: ${node.html.slice(0, 160)} ${node.any.map((/** @type {any} */ it) => it.message).join('; ')}`));
  });
}
