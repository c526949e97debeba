// SPDX-License-Identifier: Apache-2.0
// Search: objects by their names, labels and failures.

const search = {found: [], at: -1};

function textsOf(object) {
  const {labels, head, objects} = model,
    texts = [objectName(object), siteName(object)];
  each(by.label, object, (i) => texts.push(head.names[labels.name[i]]));
  if (objects.why[object]) texts.push(head.names[objects.why[object]]);
  return texts;
}

function startSearch(words) {
  view.search = words;
  search.found = [];
  search.at = -1;
  let pattern = null;
  try {
    pattern = words ? new RegExp(words, 'i') : null;
    $('words').removeAttribute('aria-invalid');
  } catch (wrong) {
    $('words').setAttribute('aria-invalid', 'true');
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
    if (!isLoop(o))
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
  if (search.at < 0) search.at = found.length - 1;
  showMatched();
  choose(found[search.at]);
  bringIntoSight(found[search.at]);
}

function listenToSearch() {
  $('search').addEventListener('submit', (event) => {
    event.preventDefault();
    nextMatch(1);
  });
  $('words').addEventListener(
    'input',
    later(() => startSearch($('words').value), 120),
  );
  $('next').addEventListener('click', () => nextMatch(1));
  $('previous').addEventListener('click', () => nextMatch(-1));
}
