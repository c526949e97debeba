// SPDX-License-Identifier: Apache-2.0
// The view as the URL's hash, so that a copied URL shows the same. A page has
// (view), (atStart), a copy of it whose values are left out, and (hashParts):
// of each letter the name in the view, and how it is written and read.

const asChoice = (choices) => ({
  write: String,
  read: (text) => (choices.includes(text) ? text : undefined),
});
const asFlag = {
  write: (flag) => (flag ? '1' : '0'),
  read: (text) => text === '1',
};
const asText = {write: String, read: String};
const asRange = {
  write: (range) => range.map(Math.round).join('-'),
  read: (text) => {
    const [from, to] = text.split('-').map(Number);
    return to > from ? [from, to] : undefined;
  },
};
const asListOf = (read, fits = () => true) => ({
  write: (list) => list.join('.'),
  read: (text) => (text === '' ? [] : text.split('.').map(read).filter(fits)),
});

const sameValue = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function hashOfView() {
  const parts = new URLSearchParams();
  for (const [letter, [name, how]] of Object.entries(hashParts))
    if (view[name] !== null && !sameValue(view[name], atStart[name]))
      parts.set(letter, how.write(view[name]));
  return parts.toString();
}

// What (hash) says; the rest is as at the start.
function readHash(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  Object.assign(view, structuredClone(atStart));
  for (const [letter, [name, how]] of Object.entries(hashParts)) {
    const value = parts.has(letter) ? how.read(parts.get(letter)) : undefined;
    if (value !== undefined) view[name] = value;
  }
}

const keepHash = later(() => {
  const hash = hashOfView();
  if (hash !== location.hash.replace(/^#/, ''))
    history.replaceState(
      null,
      '',
      hash ? '#' + hash : location.pathname + location.search,
    );
}, 150);
