// Every kind of page, by an address that shows it. Tests of all pages and the screenshots take them from here.

/**
 * `isLong`: thousands of lines of the same kind as those of another page, which axe would look at for a minute.
 * @type {{ name: string, path: string, isLong?: boolean }[]}
 */
export const PAGES = [
  { name: 'start', path: '/' },
  { name: 'results', path: '/search?q=open_connection' },
  { name: 'results-by-line', path: '/search?q=TCP_NODELAY&group=none' },
  { name: 'results-by-package', path: '/search?q=TCP_NODELAY&group=package' },
  { name: 'many-results', path: '/search?q=needle' },
  { name: 'nothing-found', path: '/search?q=nosuchword+lang%3Ac' },
  { name: 'unknown-package', path: '/search?q=TCP_NODELAY+package%3Anetlub' },
  { name: 'narrowed', path: '/search?q=TCP_NODELAY+-tests&lang=c&kind=-tests' },
  { name: 'copies', path: '/search?q=TCP_NODELAY+lang%3Ac&copies=all' },
  { name: 'bad-query', path: '/search?q=%28&mode=regexp' },
  { name: 'no-such-page', path: '/search?q=open_connection&page=99' },
  { name: 'file', path: '/show?package=netlib_1.0&path=src/socket.c&line=7' },
  { name: 'long-file', path: '/show?package=longfile_1.0&path=long.c&line=2500', isLong: true },
  { name: 'file-marks', path: '/show?package=netlib_1.0&path=src/socket.c&q=TCP_NODELAY&line=3-7' },
  { name: 'gone-version', path: '/show?package=netlib_0.9&path=src/socket.c' },
  { name: 'binary', path: '/show?package=webapp_2.1&path=assets/logo.png' },
  { name: 'packages', path: '/packages' },
  { name: 'package', path: '/p/netlib_1.0/' },
  { name: 'directory', path: '/p/netlib_1.0/src/' },
  { name: 'not-searched', path: '/skipped' },
  { name: 'missing', path: '/nowhere' },
  { name: 'problems', path: '/problems' },
  { name: 'help', path: '/help' },
  { name: 'api', path: '/api' },
  { name: 'status', path: '/status' },
];
