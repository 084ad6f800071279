// @ts-check
// The switch between light, dark, and what the system says. The choice is a cookie, so that the server marks the
// page and its first paint has the right colours.

const COOKIE = 'trawl-theme';
const YEAR_S = 365 * 24 * 3600;

/** The choice that the cookie has. */
function chosen() {
  const found = document.cookie.split('; ').find((pair) => pair.startsWith(`${COOKIE}=`));
  const value = found?.slice(COOKIE.length + 1);
  return value === 'light' || value === 'dark' ? value : 'system';
}

/** @param {string} theme */
function show(theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function start() {
  const select = document.getElementById('theme');
  if (!(select instanceof HTMLSelectElement)) return;
  const refresh = () => {
    select.value = chosen();
    show(select.value);
  };
  select.addEventListener('change', () => {
    const age = select.value === 'system' ? 0 : YEAR_S;
    document.cookie = `${COOKIE}=${select.value}; path=/; max-age=${age}; samesite=lax`;
    show(select.value);
  });
  // A page from the browser's memory may be older than the choice.
  window.addEventListener('pageshow', refresh);
  refresh();
  select.parentElement?.removeAttribute('hidden');
}
