// SPDX-License-Identifier: Apache-2.0
// The main script: what has to be updated when something changes.

let placing = null; // ends the layout that is being made

// (what) is 'items' if others are drawn, 'view' if other times or rows are in
// sight, 'range' if another time is selected.
function changed(what) {
  keepHash();
  showButtons();
  if (what === 'items') placeAll();
  else renewSoon();
  if (what === 'range') showPanel();
}

// (then) is called when the layout is done.
function placeAll(then) {
  if (placing) placing();
  stopPicture();
  $('busy').hidden = false;
  document.body.dataset.painting = '';
  let isDone = false;
  const stop = inSlices(placeItems(), () => {
    isDone = true;
    placing = null;
    $('busy').hidden = true;
    view.focus = Math.min(view.focus, Math.max(0, items.height - 1));
    document.body.dataset.rows = String(items.height);
    showFacts();
    renewSoon();
    if (then) then();
  });
  if (!isDone) placing = stop;
}

function showButtons() {
  press('simplify', view.simplified);
  press('group', view.grouped);
  press('counters', view.counters);
  press('interrupts', view.interrupts);
  $('interrupts').hidden = model.irqs.count === 0;
  $('counters').hidden = model.counters.size === 0;
  for (const panel of PANELS)
    $('tab-' + panel).ariaSelected = String(panel === view.panel);
  const filters = [
    ...view.hidden.map((key) => ['hidden', key, 'not ']),
    ...view.only.map((key) => ['only', key, 'only ']),
    ...view.opened.map((key) => ['opened', key, 'open: ']),
  ];
  $('filters').replaceChildren(
    ...filters.map(([list, key, words]) =>
      button(`${words}${keyName(key)} ×`, () => toggleFilter(list, key), {
        title: 'Remove this filter',
      }),
    ),
  );
}

function keyName(key) {
  const number = Number(String(key).split(' ')[0]),
    {head} = model;
  return head.names[Math.floor(number / 64)] || head.types[number % 64];
}

function showFacts() {
  const {head} = model,
    objects = model.objects.system.reduce((n, is) => n + (is ? 0 : 1), -1);
  $('title').textContent = document.title = head.title;
  $('facts').textContent =
    `${countText(head.events)} events of ` +
    `${plural(objects, 'object', 'objects')} in ` +
    `${secondsText(model.lastTime / head.clock_hz)}, ` +
    `${countText(items.height)} rows`;
  const lost = model.losses.reduce((sum, {count}) => sum + count, 0);
  const gaps = [
    plural(lost, 'gap in the trace', 'gaps in the trace'),
    'Events are missing there; nothing is drawn across it as known',
  ];
  putNotes([...head.notes, ...(lost ? [gaps] : [])]);
}

// An object, or a group as -1 - its number, which is opened.
function choose(object) {
  shown.clicked = null;
  if (object < 0) {
    view.opened = toggled(view.opened, groups[-1 - object].key);
    changed('items');
    return;
  }
  view.chosen = object;
  if (object) view.panel = 'object';
  const row = object ? rowOfObject(object) : -1;
  if (row >= 0 && !rowsFit()) view.focus = row;
  $('spoken').textContent = object ? spokenOf(object) : '';
  changed('view');
  showPanel();
}

function spokenOf(object) {
  const {objects, head} = model;
  if (isSystem(object)) return systemText(object);
  return (
    `${objectName(object)}, ${head.types[objects.type[object]]}, ` +
    (objects.state[object] === TASKS_END.open
      ? stateText(object)
      : `${stateText(object)} after ` +
        clocksText(endOf(object) - objects.begin[object]))
  );
}

function bringIntoSight(object) {
  const begin = family.begin[object],
    end = endOf(object),
    span = view.to - view.from;
  if (end < view.from || begin > view.to) {
    const middle = end - begin < span ? (begin + end) / 2 : begin + span / 3;
    setTimes(middle - span / 2, middle + span / 2);
  }
  const row = rowOfObject(object);
  if (row >= 0 && !rowsFit()) view.focus = row;
  changed('view');
}

function zoomToChosen() {
  if (!view.chosen) return;
  const begin = family.begin[view.chosen],
    room = Math.max(10, endOf(view.chosen) - begin);
  setTimes(begin - 0.15 * room, begin + 1.15 * room);
  changed('view');
}

// From the first event of an object to the last, with a margin.
function busyTimes() {
  const {edges, spans} = model;
  let from = Infinity,
    to = 0;
  for (const time of edges.time) {
    from = Math.min(from, time);
    to = Math.max(to, time);
  }
  for (let i = 0; i < spans.count; ++i) {
    from = Math.min(from, spans.begin[i]);
    if (!isSystem(spans.object[i])) to = Math.max(to, spans.end[i]);
  }
  if (!(to > from)) return [0, model.lastTime];
  return [from - 0.01 * (to - from), to + 0.01 * (to - from)];
}

function showAllTimes() {
  setTimes(...busyTimes());
  changed('view');
}

function selectChosen() {
  if (!view.chosen) return;
  view.range = [model.objects.begin[view.chosen], endOf(view.chosen)];
  changed('range');
}

function selectAt(isEnd) {
  if (!view.chosen) return;
  const [from, to] = view.range || [0, model.lastTime];
  const range = isEnd
    ? [from, endOf(view.chosen)]
    : [model.objects.begin[view.chosen], to];
  if (range[1] > range[0]) view.range = range;
  changed('range');
}

function filterChosen(list) {
  if (view.chosen && !isSystem(view.chosen))
    toggleFilter(list, alikeKey(view.chosen));
}

function toggle(what) {
  view[what] = !view[what];
  changed('items');
}

function setPanel(panel) {
  view.panel = panel;
  changed('view');
  showPanel();
}

const SHOW_PANEL = {
  object: showObject,
  sites: showSites,
  late: showLate,
  interrupts: showInterrupts,
  times: showTimes,
  stacks: showStacks,
};

function showPanel() {
  if (panelWork) panelWork();
  panelWork = null;
  const panel = $('panel');
  panel.replaceChildren();
  delete panel.dataset.done;
  SHOW_PANEL[view.panel](panel);
}

function stepBack() {
  if (view.search) {
    clearSearch();
  } else if (view.range) {
    view.range = null;
    changed('range');
  } else choose(0);
}

function resetView() {
  Object.assign(view, structuredClone(atStart));
  clearSearch();
  changed('items');
  showPanel();
}

// ---- the beginning: data, indexes, layout, and what the page listens to.

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
  if (isSystem(object)) {
    const time = timeOf(pointAt(event)[0]);
    return putTip(
      event,
      make('b', objectName(object)),
      systemText(object, time),
      ...stepTexts(object, pointAt(event)[0]).map((text) => make('div', text)),
    );
  }
  const begin = model.objects.begin[object],
    end = endOf(object);
  putTip(
    event,
    make('b', objectName(object)),
    `${typeOf(object)}, ${stateText(object)}: ${timeText(begin)}` +
      ` to ${timeText(end)} (${clocksText(end - begin)})`,
    ...stepTexts(object, pointAt(event)[0]).map((text) => make('div', text)),
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
  ['irq', 'area', 'interrupt', () => [model.irqs]],
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
    ...(model.steps.count
      ? [legendItem(palette.counters[0], 'step of a counter', 'step')]
      : []),
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
    interrupts: () => toggle('interrupts'),
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
  needCanvas();
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
  fillCounterMenu();
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
