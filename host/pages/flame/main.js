// SPDX-License-Identifier: Apache-2.0
// The main script: what has to be updated when something changes.

let data = null;

const fillTableSoon = later(fillTable, 40);
const weighSoon = perFrame(() => {
  weigh();
  rebuild();
  tellMatched();
  showFacts();
  showNotes();
  repaintTimeline();
  fillTableSoon();
});

// (what) is 'weights' if samples are counted differently, 'scene' if other
// trees are shown, 'paint' if only the appearance changes; (done) is called
// after a new scene.
function changed(what, done) {
  keepHash();
  showButtons();
  if (what === 'weights') {
    markRemoved();
    weighSoon();
  } else if (what === 'scene') {
    rebuild(done);
  } else {
    if (categories.mode !== view.colour) makeCategories(view.colour);
    readTheme();
    showLegend();
    redrawRows();
    repaint();
    repaintTimeline();
  }
}

function showButtons() {
  $('zoom-in').disabled = $('zoom-out').disabled = view.sandwich >= 0;
  press('flame', !view.icicle);
  press('icicle', view.icicle);
  press('samples', !countsTime());
  press('clocks', view.byTime || isJoined());
  press('side-toggle', view.side);
  $('colour').value = view.colour;
  $('cpu').value = view.cpu;
  showShares();
  sizeLanes();
  $('restore').hidden = view.removed.length === 0;
  document.body.classList.toggle('side', view.side);
}

function setIcicle(icicle) {
  view.icicle = icicle;
  changed('scene', () => {
    $('scroll').scrollTop = icicle ? 0 : scene.height;
  });
}

function setByTime(byTime) {
  view.byTime = byTime;
  changed('weights');
}

function setColour(colour) {
  view.colour = colour;
  changed('paint');
}

function nextColour() {
  const there = COLOURS.filter(hasColour);
  setColour(there[(there.indexOf(view.colour) + 1) % there.length]);
}

function nextSort() {
  const there = SORTS.filter((name) => isCompared() || name !== 'change');
  sortBy(there[(there.indexOf(view.sort) + 1) % there.length]);
}

function sortBy(name) {
  view.sort = name;
  fillTable();
  keepHash();
}

function setSide(side) {
  view.side = side;
  showButtons();
  keepHash();
  arrange();
  if (side) redrawRows();
}

const toggleSide = () => setSide(!view.side);

function restoreRemoved() {
  view.removed = [];
  changed('weights');
}

function resetView() {
  const names = ['zoom', 'func', 'sandwich', 'range', 'removed'];
  for (const name of [...names, 'cpu', 'shares', 'blamed'])
    view[name] = structuredClone(atStart[name]);
  beginTimeline();
  clearSearch();
  changed('weights');
}

function listenToButtons() {
  listenToClicks({
    flame: () => setIcicle(false),
    icicle: () => setIcicle(true),
    samples: () => setByTime(false),
    clocks: () => setByTime(true),
    reset: resetView,
    restore: restoreRemoved,
    'side-toggle': toggleSide,
    'help-open': showHelp,
    'zoom-in': stepByButton,
    'zoom-out': stepOut,
    folded: saveFolded,
    png: savePng,
    zoom: () => open(focused),
    blame: blameChosen,
    remove: removeChosen,
    copy: copyName,
    sandwich: () => showSandwich(view.func),
  });
  listen($('colour'), {change: () => setColour($('colour').value)});
  listen($('of'), {change: () => setShares($('of').value)});
  listen($('cpu'), {change: () => setCpu(Number($('cpu').value))});
}

function listenToWindow() {
  const box = $('scroll');
  let below = 0; // pixels: the roots of a flame stay where they are
  box.addEventListener('scroll', () => {
    below = box.scrollHeight - box.clientHeight - box.scrollTop;
  });
  new ResizeObserver(() => {
    const kept = below;
    arrange();
    if (!view.icicle && view.sandwich < 0)
      box.scrollTop = box.scrollHeight - box.clientHeight - kept;
    redrawRows();
    repaintTimeline();
  }).observe($('scroll'));
  listen(window, {
    resize: repaintTimeline,
    theme: () => changed('paint'),
    hashchange: () => {
      viewOfHash(location.hash);
      showAll();
    },
  });
}

function showAll() {
  if (view.search !== $('regex').value || (view.search && !search.found)) {
    $('regex').value = view.search;
    startSearch(view.search);
  }
  changed('weights');
  changed('paint');
}

// The page shows stretches in which tasks waited.
function countWaits() {
  counted = 'wait';
  $('samples').textContent = 'Waits';
  $('samples').title = 'Count waits (m)';
}

async function begin() {
  needCanvas();
  data = await loadData();
  if (data.head.waits) countWaits();
  beginState(data);
  viewOfHash(location.hash);
  for (const option of $('colour').options)
    option.hidden = !hasColour(option.value);
  $('by-change').hidden = !isCompared();
  showSides();
  showCpus();
  if (data.head.served) $('home').href = './';
  await pause();
  prepareWeights();
  await pause();
  sortByName();
  beginTimeline();
  weigh();
  await pause();
  makeCategories(view.colour);
  listenToGraph();
  listenToTimeline();
  listenToTable();
  listenToSearch($('regex'), $('graph'));
  listenToButtons();
  listenToKeys(timelineKey);
  listenToWindow();
  showAll();
  if (!view.icicle)
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        $('scroll').scrollTop = scene.height;
      }),
    );
  document.body.dataset.ready = 'yes';
}

begin().catch(showFailure);
