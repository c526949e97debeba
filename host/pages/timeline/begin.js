// SPDX-License-Identifier: Apache-2.0
// The beginning: data, indexes, layout, and what the page listens to.

function showTip(object, event) {
  const tip = $('tip');
  tip.hidden = !object;
  if (!object) return;
  if (object < 0) {
    const group = groups[-1 - object];
    tip.replaceChildren(
      make('b', {
        textContent:
          `${countText(group.shown.length)} objects of ` + siteName(group.site),
      }),
      groupAt(groups[-1 - object], timeOf(pointAt(event)[0])) +
        'Click to open the group.',
    );
  } else {
    const {objects, head} = model;
    tip.replaceChildren(
      make('b', {textContent: objectName(object)}),
      `${head.types[objects.type[object]]}, ` +
        `${stateText(object)}: ${timeText(objects.begin[object])}` +
        ` to ${timeText(endOf(object))} (` +
        `${clocksText(endOf(object) - objects.begin[object])})`,
    );
  }
  tip.style.left = Math.min(event.clientX + 14, innerWidth - 320) + 'px';
  tip.style.top = Math.min(event.clientY + 16, innerHeight - 80) + 'px';
}

function checkList(id, names, words, isOn, act) {
  $(id).replaceChildren(
    ...names.map((name, i) => {
      const box = make('input', {type: 'checkbox', checked: isOn(name, i)});
      box.addEventListener('change', () => act(name, i, box.checked));
      const label = make('label', {}, box, words(name, i));
      return label;
    }),
  );
}

function fillMenus() {
  checkList(
    'arrow-list',
    arrowNames(),
    (name) => name.replace('_', ' '),
    (name) => view.arrows.includes(name),
    (name) => {
      view.arrows = toggled(view.arrows, name);
      changed('view');
    },
  );
  checkList(
    'state-list',
    STATES,
    (name) => name,
    (name, i) => view.states === null || view.states.includes(i),
    (name, i) => {
      view.states = toggled(view.states || STATES.map((_, s) => s), i);
      changed('items');
    },
  );
}

// What is drawn as an area, and as a line, and what it means; the last ones if
// the traces have them.
const LEGEND = [
  ['run', 'area', 'running'],
  ['ready', 'line', 'ready'],
  ['line', 'line', 'waiting, or pending'],
  ['idle', 'area', 'loop idle'],
  ['pause', 'area', 'pause', () => model.pauses],
  ['stolenBand', 'area', 'stolen', () => model.stolen],
  ['hatching', 'area', 'lost: unknown', () => model.losses],
];

const SWATCH_LINE = 3;

function legendEntry(colour, kind, words, thick = SWATCH_LINE) {
  const swatch = make('span', {className: `swatch ${kind}`});
  if (kind === 'line') swatch.style.height = thick + 'px';
  swatch.style.background = colour;
  return make('li', {}, swatch, words);
}

function showLegend() {
  const stripes =
    `repeating-linear-gradient(135deg, ${palette.bad} 0 2px, ` +
    `${palette.ground} 2px 5px)`;
  $('legend').replaceChildren(
    ...LEGEND.filter(
      ([, , , lists]) => !lists || lists().some(({count}) => count),
    ).map(([name, kind, words]) =>
      legendEntry(name === 'hatching' ? stripes : palette[name], kind, words),
    ),
    ...arrowNames()
      .map((name, i) =>
        legendEntry(palette.arrows[i], 'line', name.replace('_', ' '), 2),
      )
      .filter((_, i) => i > 0),
  );
}

function savePng() {
  $('canvas').toBlob((blob) => download(blob, 'timeline.png'));
}

function listenToButtons() {
  const actions = {
    'zoom-in': () => zoomBy(0.7),
    'zoom-out': () => zoomBy(1 / 0.7),
    'zoom-all': showAllTimes,
    simplify: () => toggle('simplified'),
    group: () => toggle('grouped'),
    counters: () => toggle('counters'),
    reset: resetView,
    png: savePng,
    'help-open': showHelp,
  };
  for (const panel of PANELS) actions['tab-' + panel] = () => setPanel(panel);
  for (const [id, act] of Object.entries(actions))
    $(id).addEventListener('click', act);
}

function listenToWindow() {
  new ResizeObserver(() => {
    stopPicture();
    arrange();
    renewSoon();
  }).observe($('picture'));
  addEventListener('theme', () => {
    readTheme();
    showLegend();
    renewSoon();
  });
  addEventListener('hashchange', () => {
    viewOfHash(location.hash);
    changed('items');
    showPanel();
  });
}

async function begin() {
  const columns = await readPayload();
  await loadModel(columns);
  await finished(makeIndexes());
  await loadStacks(columns);
  loadWaits(columns);
  arrange();
  readTheme();
  view.arrows = ARROWS.slice();
  setTimes(...busyTimes());
  Object.assign(atStart, structuredClone(view));
  viewOfHash(location.hash);
  await finished(placeItems());
  document.body.dataset.rows = String(items.height);
  showFacts();
  showLegend();
  fillMenus();
  showButtons();
  listenToPicture();
  listenToButtons();
  listenToSearch();
  listenToKeys();
  listenToWindow();
  if (view.search) {
    $('words').value = view.search;
    startSearch(view.search);
  }
  renewPicture();
  showPanel();
  document.body.dataset.ready = 'yes';
}

begin().catch(showFailure);
