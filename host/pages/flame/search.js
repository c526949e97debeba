// SPDX-License-Identifier: Apache-2.0
// Search. A worker matches the names, since a regular expression may take
// forever and must not block the page. It is stopped after a while.

const SEARCH_MS = 1e4;

const search = {
  found: null, // 1 for each function that matches, null = no search
  spots: [], // matching nodes that are not inside another one
  at: -1, // of them, the one walked to
  number: 0, // of the search
  shown: 0, // answers that were shown
  worker: null,
  timer: 0,
};

const searchProgram = `
  let names = [];
  onmessage = ({data}) => {
    if (data.names) { names = data.names; return; }
    let regex;
    try { regex = new RegExp(data.text, 'i'); }
    catch (error) { postMessage({number: data.number, bad: true}); return; }
    const found = Uint8Array.from(names, (name) => (regex.test(name) ? 1 : 0));
    postMessage({number: data.number, found});
  };`;

function startWorker() {
  const source = URL.createObjectURL(
    new Blob([searchProgram], {type: 'text/javascript'}),
  );
  search.worker = new Worker(source);
  search.worker.onmessage = ({data: answer}) => takeAnswer(answer);
  search.worker.postMessage({names: data.functions.names});
}

function startSearch(text) {
  const number = ++search.number;
  view.search = text;
  clearTimeout(search.timer);
  $('regex').setAttribute('aria-invalid', 'false');
  keepHash();
  if (text === '') {
    showFound(null);
    return;
  }
  if (!search.worker) startWorker();
  search.worker.postMessage({text, number});
  search.timer = setTimeout(giveUp, SEARCH_MS);
}

function giveUp() {
  search.worker.terminate();
  search.worker = null;
  ++search.number;
  $('regex').setAttribute('aria-invalid', 'true');
  $('matched').textContent = 'takes too long';
}

function takeAnswer({number, found, bad}) {
  if (number !== search.number) return;
  clearTimeout(search.timer);
  if (bad) {
    $('regex').setAttribute('aria-invalid', 'true');
    $('matched').textContent = 'invalid regex';
    return;
  }
  showFound(found);
}

function showFound(found) {
  search.found = found;
  ++search.shown;
  search.at = -1;
  tellMatched();
  showLegend();
  fillTable();
  repaint();
  repaintTimeline();
}

// Calls (what) with the nodes that match and are not inside another match.
function eachMatch(what) {
  const {count, func, end} = data.tree;
  for (let i = 1; i < count; ) {
    const isMatch = search.found[func[i]];
    if (isMatch) what(i);
    i = isMatch ? end[i] : i + 1;
  }
}

// The share of the samples whose stack holds a match: what is inside a match
// is not counted again.
function tellMatched() {
  const {width, total} = data.tree,
    output = $('matched');
  let sum = 0;
  search.spots = [];
  output.classList.toggle('found', search.found !== null);
  $('previous').disabled = $('next').disabled = !search.found;
  output.textContent = '';
  if (!search.found) return;
  eachMatch((i) => {
    if (width[i] > 0) search.spots.push(i);
    sum += total[i];
  });
  output.textContent = shareText(shareOf(sum));
  output.title =
    weightText(sum) + ' at ' + countText(search.spots.length) + ' places';
}

// For each node, whether a match is among it and its callers.
function matchedBelow() {
  const {count, end} = data.tree,
    inside = new Uint8Array(count);
  eachMatch((i) => inside.fill(1, i, end[i]));
  return inside;
}

// Walks to the next match, or to the one before; zooms where it is too narrow
// to be seen.
function nextMatch(step) {
  const count = search.spots.length;
  if (!count) return;
  search.at =
    (search.at + step + count + (search.at < 0 && step < 0 ? 1 : 0)) % count;
  const node = search.spots[search.at];
  const walkThere = () => {
    const spot = {part: scene.parts[0], node};
    if (boxOf(spot)?.w >= 8) choose(spot);
    else zoomTo(node);
    $('matched').title = `match ${search.at + 1} of ${count}`;
  };
  const {zoom} = view,
    inZoom = node >= zoom && node < data.tree.end[zoom];
  if (view.sandwich < 0 && inZoom) {
    walkThere();
    return;
  }
  view.sandwich = -1;
  view.zoom = 0;
  changed('scene', walkThere);
}

function clearSearch() {
  $('regex').value = '';
  startSearch('');
}
