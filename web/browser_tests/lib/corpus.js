// The corpus that the tests search: packages in several languages, copies, a long file, a long line, a file that is
// not text, names that are hard to show, and as many lines of `needle` as a search needs to be seen running.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Lines of the long file, of one that is read in several parts, and of one that no page has as a whole. */
export const LONG_LINES = 5000;
export const LONGER_LINES = 12_000;
export const HUGE_LINES = 30_000;

/** Files with `needle`, and lines of each. */
export const BULK = { files: 60, lines: 500 };

const SOCKET = `#include <errno.h>
#include <sys/socket.h>

/* Opens a connection,
   and tries again after EINTR. */
int open_connection(const char *host, int port)
{
\tint fd = socket(AF_INET, SOCK_STREAM, 0);
\tif (fd < 0 && errno == EINTR)
\t\treturn open_connection(host, port);
\tset_option(fd, TCP_NODELAY, 1);
\treturn fd;
}

void close_connection(int fd)
{
\tclose(fd); // TCP_NODELAY ends with it
}
`;

const README = `# netlib

Connections for &lt;everybody&gt;. See \`open_connection\` in [the source](src/socket.c), at
[its definition](src/socket.c#L6), in the [manual](docs/manual.txt), [below](#how-to-use-it), in [tests](tests/) and
[elsewhere](https://example.org/netlib).

![a chart](https://example.org/chart.png) <img src="assets/chart.png" alt="another chart">

## How to use it

1. Read the [manual](/docs/manual.txt).
2. There is no [second step](second.md).

| call | meaning |
|------|---------|
| \`open_connection\` | opens **one** |

\`\`\`c
int fd = open_connection("localhost", 80);
\`\`\`

<script>window.hacked = 1</script> [script](javascript:window.hacked=1)
`;

/** @returns {Record<string, string | Buffer>} */
function files() {
  const numbered = (/** @type {number} */ count, /** @type {(at: number) => string} */ line) =>
    Array.from({ length: count }, (_, at) => line(at + 1)).join('\n') + '\n';
  /** @type {Record<string, string | Buffer>} */
  const files = {
    'netlib_1.0/README.md': README,
    'netlib_1.0/src/socket.c': SOCKET,
    'netlib_1.0/src/socket.h': 'int open_connection(const char *host, int port);\nvoid close_connection(int fd);\n',
    'netlib_1.0/tests/test_socket.c': '#include "../src/socket.h"\nint main(void) { return open_connection("localhost", 1) < 0; }\n',
    'netlib_1.0/docs/manual.txt': 'open_connection returns a descriptor. TCP_NODELAY is set.\n',
    'netlib_1.0/vendor/other/socket.c': SOCKET,
    'webapp_2.1/app/main.py': 'import socket\n\n\ndef open_connection(host):\n    """Opens one."""\n    return socket.create_connection((host, 80))\n',
    'webapp_2.1/app/static/view.js': 'export function openConnection(host) {\n  return new WebSocket(`wss://${host}/`); // TCP_NODELAY\n}\n',
    'webapp_2.1/app/copy/socket.c': SOCKET,
    'webapp_2.1/assets/logo.png': Buffer.from('89504e470d0a1a0a0000000d4948445200000001', 'hex'),
    // Git's rules hold in a work tree.
    'webapp_2.1/.git': '',
    'webapp_2.1/.gitignore': '*.o\n',
    'webapp_2.1/build/out.o': 'TCP_NODELAY\n',
    'longfile_1.0/long.c': numbered(LONG_LINES, (at) => (at % 100 === 0 ? `int marker_${at}; /* TCP_NODELAY */` : `int line_${at};`)),
    'longfile_1.0/longer.c': numbered(LONGER_LINES, (at) => `int longer_${at};`),
    'longfile_1.0/huge.c': numbered(HUGE_LINES, (at) => `int huge_${at};`),
    'longfile_1.0/wide.min.js': `var a="${'x'.repeat(60000)}";TCP_NODELAY;${'y'.repeat(60000)}\n`,
    'longfile_1.0/empty.txt': '',
  };
  for (let file = 1; file <= BULK.files; file += 1) {
    const name = `bulk${1 + (file % 6)}_1.0/src/part${file}.c`;
    files[name] = numbered(BULK.lines, (at) => `int needle_${file}_${at} = ${at}; /* needle */`);
  }
  return files;
}

/**
 * Writes files below a directory.
 * @param {string} directory
 * @param {Record<string, string | Buffer>} [content] by path
 */
export function writeCorpus(directory, content = files()) {
  for (const [path, bytes] of Object.entries(content)) {
    const name = join(directory, path);
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, bytes);
  }
}
