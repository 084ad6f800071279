// Every kind of page, by an address that shows it. Tests of all pages and the screenshots take them from here.

/** @type {{ name: string, path: string }[]} */
export const PAGES = [
  { name: 'start', path: '/' },
  { name: 'results', path: '/search?q=open_connection' },
  { name: 'results-by-line', path: '/search?q=TCP_NODELAY&group=none' },
  { name: 'results-by-package', path: '/search?q=TCP_NODELAY&group=package' },
  { name: 'many-results', path: '/search?q=needle' },
  { name: 'nothing-found', path: '/search?q=nosuchword+lang%3Ac' },
  { name: 'bad-query', path: '/search?q=%28&mode=regexp' },
  { name: 'no-such-page', path: '/search?q=open_connection&page=99' },
  { name: 'file', path: '/show?package=netlib_1.0&path=src/socket.c&line=7' },
  { name: 'long-file', path: '/show?package=longfile_1.0&path=long.c&line=2500' },
  { name: 'missing', path: '/nowhere' },
  { name: 'problems', path: '/problems' },
  { name: 'help', path: '/help' },
  { name: 'api', path: '/api' },
  { name: 'status', path: '/status' },
];
