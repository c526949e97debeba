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
        `${STATES[objects.state[object]]}: ${timeText(objects.begin[object])}` +
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

const LEGEND = [
  ['run', 'running'],
  ['ready', 'ready'],
  ['line', 'waiting'],
  ['idle', 'loop idle'],
];

function showLegend() {
  const entries = [
    ...LEGEND.map(([name, words]) => [palette[name], words, 8]),
    ...arrowNames()
      .map((name, i) => [palette.arrows[i], name.replace('_', ' '), 2])
      .filter((_, i) => i > 0),
  ];
  $('legend').replaceChildren(
    ...entries.map(([colour, words, thick]) => {
      const swatch = make('span', {className: 'swatch'});
      swatch.style.background = colour;
      swatch.style.height = thick + 'px';
      return make('li', {}, swatch, words);
    }),
  );
}

function savePng() {
  $('canvas').toBlob((blob) => {
    const link = make('a', {
      href: URL.createObjectURL(blob),
      download: 'timeline.png',
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
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

begin().catch((error) => {
  $('title').textContent = 'This page cannot be displayed';
  $('facts').textContent = String(error.stack || error);
});
