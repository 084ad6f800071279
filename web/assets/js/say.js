// @ts-check
// The page's live region, which screen readers read aloud: that something was copied, or that a search has ended.

/** @param {string} text */
export function say(text) {
  const region = document.getElementById('said');
  if (region) region.textContent = text;
}
