// SPDX-License-Identifier: Apache-2.0
// The beginning: data, indexes, layout, and what the page listens to.

function showTip(object, event) {
  if (!object) return hideTip();
  if (object < 0) {
    const group = groups[-1 - object],
      count = countText(group.shown.length),
      words = groupAt(group, timeOf(pointAt(event)[0]));
    return putTip(
      event,
      make('b', `${count} objects of ${siteName(group.site)}`),
      words + 'Click to open the group.',
    );
  }
  const begin = model.objects.begin[object],
    end = endOf(object);
  putTip(
    event,
    make('b', objectName(object)),
    `${typeOf(object)}, ${stateText(object)}: ${timeText(begin)}` +
      ` to ${timeText(end)} (${clocksText(end - begin)})`,
  );
}

function checkList(id, names, words, isOn, act) {
  $(id).replaceChildren(
    ...names.map((name, i) => {
      const box = make('input', {type: 'checkbox', checked: isOn(name, i)});
      return make(
        'label',
        {},
        listen(box, {change: () => act(name, i)}),
        words(name),
      );
    }),
  );
}

function fillMenus() {
  checkList(
    'arrow-list',
    arrowNames(),
    arrowWords,
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
  ['object', 'line', 'waiting, or pending'],
  ['idle', 'area', 'loop idle'],
  ['pause', 'area', 'pause', () => model.pauses],
  ['stolen-band', 'area', 'stolen', () => model.stolen],
  ['hatching', 'area', 'lost: unknown', () => model.losses],
];

function showLegend() {
  const stripes =
    `repeating-linear-gradient(135deg, ${palette.bad} 0 2px, ` +
    `${palette.ground} 2px 5px)`;
  $('legend').replaceChildren(
    ...LEGEND.filter(
      ([, , , lists]) => !lists || lists().some(({count}) => count),
    ).map(([name, kind, words]) =>
      legendItem(name === 'hatching' ? stripes : palette[name], words, kind),
    ),
    ...arrowNames()
      .slice(1)
      .map((name, i) =>
        legendItem(palette.arrows[i + 1], arrowWords(name), 'arrow'),
      ),
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
  listenToClicks(actions);
}

function listenToWindow() {
  new ResizeObserver(() => {
    stopPicture();
    arrange();
    renewSoon();
  }).observe($('picture'));
  listen(window, {
    theme: () => {
      readTheme();
      showLegend();
      renewSoon();
    },
    hashchange: () => {
      viewOfHash(location.hash);
      changed('items');
      showPanel();
    },
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
  listenToSearch($('words'), $('canvas'));
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
