// A git repository with a history: a file that was renamed, several authors, a committer who is not the author, a tag,
// and messages that are long or look like markup. The same bytes, and so the same ids of commits, on every run.
import { spawnSync } from 'node:child_process';

const RING = [
  '/* A ring of integers between one writer and one reader. */',
  '#include <stdbool.h>',
  '#include <stddef.h>',
  '',
  '#define RING_SIZE 64',
  '',
  'struct ring {',
  '\tsize_t head, tail;',
  '\tint slots[RING_SIZE];',
  '};',
  '',
  '/* Returns false if the ring is full. */',
  'bool ring_push(struct ring *ring, int value)',
  '{',
  '\tif (ring->head - ring->tail == RING_SIZE)',
  '\t\treturn false;',
  '\tring->slots[ring->head++ % RING_SIZE] = value;',
  '\treturn true;',
  '}',
  '',
  'bool ring_pop(struct ring *ring, int *value)',
  '{',
  '\tif (ring->head == ring->tail)',
  '\t\treturn false;',
  '\t*value = ring->slots[ring->tail++ % RING_SIZE];',
  '\treturn true;',
  '}',
];

/** An image of one pixel. */
const IMAGE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

const README = `# tool

![the ring](docs/ring.png) A [ring](src/ring.c#L13), and three [integers](new.c). The [guide](docs/guide.md) says more, as
does [its other name](guide), and [the same directory](documents/guide.md).
`;

const lines = (/** @type {string[]} */ ...all) => `${all.join('\n')}\n`;

/** @typedef {{ author?: string, committer?: string, message: string, files: Record<string, string | Buffer | null> }} Commit */

/** @type {Commit[]} `null` removes a file; the name of a symbolic link ends with `@`. */
const COMMITS = [
  { message: 'Add int first; <b>\n\nBecause of <i>.', files: { 'old.c': lines('int first;') } },
  { message: 'Add int second; <b>\n\nBecause of <i>.', files: { 'old.c': lines('int first;', 'int second;') } },
  {
    message: 'Add int third; <b>\n\nBecause of <i>.',
    files: { 'old.c': null, 'new.c': lines('int first;', 'int second;', 'int third;') },
  },
  { author: 'Grace Murray Hopper-Vandergrift', message: 'Add a ring', files: { 'src/ring.c': lines(...RING.slice(0, 19)) } },
  {
    message: 'ring: take out of it what was put in, and say whether there was anything, so that a reader need not look first',
    files: { 'src/ring.c': lines(...RING) },
  },
  {
    author: 'Grace Murray Hopper-Vandergrift',
    committer: 'Ada script',
    message: 'ring: double its size\n\nThe reader was late once an hour:\n\n    full 3,612 of 86,400 s before, 0 after',
    files: {
      'src/ring.c': lines(...RING).replace('RING_SIZE 64', 'RING_SIZE 128'),
      'README.md': README,
      'docs/guide.md': '# Guide\n\nBack to the [start](../README.md#tool), or on to the [ring](../src/).\n',
      'docs/ring.png': IMAGE,
      'guide@': 'docs/guide.md',
      'documents@': 'docs',
      'outside@': '../../etc/passwd',
    },
  },
];

/** When the first commit was made; each of the others a day after the one before. */
const START_S = 1_780_000_000;
const DAY_S = 86_400;

/** What `git fast-import` reads. */
function stream() {
  // Bytes of an image are no UTF-8.
  const data = (/** @type {string | Buffer} */ text) => `data ${Buffer.byteLength(text)}\n${Buffer.from(text).toString('latin1')}\n`;
  const mode = (/** @type {string} */ path) => (path.endsWith('@') ? '120000' : '644');
  const person = (/** @type {string} */ name, /** @type {number} */ at) => `${name} <a@example.org> ${START_S + at * DAY_S} +0000`;
  const commits = COMMITS.map(({ author = 'Ada script', committer = author, message, files }, at) => [
    'commit refs/heads/main\n', `author ${person(author, at)}\n`, `committer ${person(committer, at)}\n`, data(message),
    ...Object.entries(files).map(([path, text]) => (text === null ? `D ${path}\n` : `M ${mode(path)} inline ${path.replace(/@$/, '')}\n${data(text)}`)),
  ].join(''));
  const tag = `tag v1.0\nfrom refs/heads/main\ntagger ${person('Ada script', COMMITS.length)}\n${data('The first release')}`;
  return [...commits, tag].join('');
}

/**
 * Writes a bare repository.
 * @param {string} directory
 */
export function writeRepository(directory) {
  const git = (/** @type {string} */ input, /** @type {string[]} */ ...args) => {
    const run = spawnSync('git', args, { encoding: 'utf8', input: Buffer.from(input, 'latin1') });
    if (run.status !== 0) throw new Error(`git ${args.join(' ')}: ${run.error ?? run.stderr}`);
  };
  git('', 'init', '-q', '--bare', '-b', 'main', directory);
  git(stream(), '-C', directory, 'fast-import', '--quiet');
}
