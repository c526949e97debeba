// SPDX-License-Identifier: Apache-2.0
// Search: objects by their names, labels and failures.

const search = {found: [], at: -1};

function startSearch(words) {
  view.search = words;
  search.found = [];
  search.at = -1;
  let pattern = null;
  try {
    pattern = words ? new RegExp(words, 'i') : null;
    $('words').ariaInvalid = null;
  } catch (wrong) {
    $('words').ariaInvalid = 'true';
  }
  if (pattern) findNames(pattern);
  showMatched();
  keepHash();
}

// Names first: there are few, and objects share them.
function findNames(pattern) {
  const {objects, labels, head} = model;
  const hit = Uint8Array.from(head.names, (name) => pattern.test(name)),
    types = head.types.map((name) => pattern.test(name));
  const found = new Uint8Array(objects.count);
  for (let o = 1; o < objects.count; ++o)
    if (!isSystem(o))
      found[o] =
        hit[objects.site[o]] ||
        hit[objects.why[o]] ||
        (objects.site[o] === 0 && types[objects.type[o]]) ||
        pattern.test(String(objects.id[o]));
  for (let i = 0; i < labels.count; ++i)
    if (hit[labels.name[i]]) found[labels.object[i]] = 1;
  found.forEach((is, o) => {
    if (is) search.found.push(o);
  });
}

function showMatched() {
  const text = !view.search
    ? ''
    : search.at < 0
      ? countText(search.found.length) + ' found'
      : `${search.at + 1} of ${countText(search.found.length)}`;
  $('matched').textContent = text;
}

function nextMatch(step) {
  const {found} = search;
  if (!found.length) return;
  search.at = (search.at + step + found.length) % found.length;
  showMatched();
  choose(found[search.at]);
  bringIntoSight(found[search.at]);
}

function clearSearch() {
  $('words').value = '';
  startSearch('');
}
