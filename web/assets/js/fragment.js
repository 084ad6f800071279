// @ts-check
// HTML that the server rendered, on its way into a page. This is the only place where text becomes markup: the
// policy of the pages (Trusted Types) refuses it elsewhere. What comes from source code is escaped by the server.

/** @typedef {{ createHTML: (html: string) => string }} Policy */

/** @type {Policy} */
const plain = { createHTML: (html) => html };

/** @type {Policy} */
const policy = /** @type {any} */ (window).trustedTypes?.createPolicy('trawl', plain) ?? plain;

/** @param {string} html */
function parse(html) {
  return new DOMParser().parseFromString(policy.createHTML(html), 'text/html');
}

/**
 * Fetches one of our pages or fragments; also a page that says what went wrong.
 * @param {string} address
 * @param {RequestInit} [options]
 * @returns {Promise<Document>}
 */
export async function fetchPage(address, options) {
  const url = new URL(address, document.baseURI);
  if (url.origin !== location.origin) throw new Error(`${url.origin} is another site`);
  const response = await fetch(url, { headers: { accept: 'text/html' }, ...options });
  const kind = response.headers.get('content-type') ?? '';
  if (!kind.startsWith('text/html')) throw new Error(`${url.pathname} is no page: status ${response.status}`);
  return parse(await response.text());
}

/**
 * Returns the markup that an event of our server carries.
 * @param {MessageEvent} event
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function fromEvent(event, html) {
  if (event.origin !== location.origin) throw new Error(`${event.origin} is another site`);
  const fragment = document.createDocumentFragment();
  fragment.append(...parse(html).body.childNodes);
  return fragment;
}
