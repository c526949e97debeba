// SPDX-License-Identifier: Apache-2.0
// Keys: each does what a button or the mouse does. The help lists them.

const inDirection = (key) => () => {
  const up = scene.parts.length > 1 ? Boolean(focused?.part.up) : !view.icicle;
  walk((key === 'ArrowUp') === up ? 'in' : 'out');
};

const keyList = [
  [['ArrowUp'], 'walk up', inDirection('ArrowUp')],
  [['ArrowDown'], 'walk down', inDirection('ArrowDown')],
  [['ArrowLeft'], 'walk to the left', () => walk('left')],
  [['ArrowRight'], 'walk to the right', () => walk('right')],
  [['Enter', ' '], 'zoom to what is chosen', () => open(focused)],
  [['Backspace', 'h'], 'zoom out by one', () => outwards()],
  [['r'], 'reset: everything again', () => resetView()],
  [['v'], 'sandwich: callers and callees', () => showSandwich(view.func)],
  [['x', 'Delete'], 'remove the stack', () => removeChosen()],
  [['u'], 'bring removed stacks back', () => restoreRemoved()],
  [['/'], 'search', () => $('regex').select()],
  [['n'], 'next match', () => nextMatch(1)],
  [['N'], 'previous match', () => nextMatch(-1)],
  [['i'], 'flame or icicle', () => setIcicle(!view.icicle)],
  [['c'], 'next meaning of colours', () => nextColour()],
  [['m'], 'count samples or time', () => setByTime(!view.byTime)],
  [['t'], 'light, dark, as the system', () => nextTheme()],
  [['l'], 'functions beside the graph', () => toggleSide()],
  [
    ['f'],
    'walk in the functions',
    () => {
      setSide(true);
      $('rows').focus();
    },
  ],
  [['g'], 'walk in the graph', () => $('graph').focus()],
  [['o'], 'sort functions by the next column', () => nextSort()],
  [['[', ']'], 'move the range of time', (key) => nudge(key === '[' ? -1 : 1)],
  [
    ['{', '}'],
    'shrink or grow the range',
    (key) => nudge(key === '{' ? -1 : 1, true),
  ],
  [
    ['0'],
    'all of the time',
    () => {
      beginTimeline();
      setRange(null);
    },
  ],
  [
    ['w', 's'],
    'time line: zoom in, out',
    (key) => zoomTime(key === 'w' ? 0.7 : 1 / 0.7, middleOfTime()),
  ],
  [
    ['a', 'd'],
    'time line: left, right',
    (key) => panTime(key === 'a' ? -0.2 : 0.2),
  ],
  [['y'], 'copy the name', () => copyName()],
  [['e'], 'save folded stacks', () => saveFolded()],
  [['p'], 'save a picture', () => savePng()],
  [['?'], 'this help', () => showHelp()],
  [['Escape'], 'leave: help, search, sandwich, zoom', () => stepBack()],
];

const keyNames = {
  ArrowUp: '\u2191',
  ArrowDown: '\u2193',
  ArrowLeft: '\u2190',
  ArrowRight: '\u2192',
  ' ': 'Space',
  Escape: 'Esc',
};

function stepBack() {
  if (search.found) {
    $('regex').value = '';
    startSearch('');
  } else if (view.sandwich >= 0) {
    outwards();
  } else if (view.zoom > 0) {
    zoomTo(0);
  } else if (view.range) {
    setRange(null);
  } else if (view.func >= 0) {
    focused = null;
    chooseFunction(-1, false);
  }
}

function showHelp() {
  const help = $('help');
  if (!help.firstChild) fillHelp(help);
  help.showModal();
}

const helpTexts = [
  'Mouse: click zooms, right click chooses; a finger chooses first and ' +
    'zooms when it touches again. In the time line drag a range, drag its ' +
    'ends or its middle, double-click for all; the wheel zooms. In the ' +
    'functions click chooses, double-click opens the sandwich.',
  'Widths are shares of the samples shown. Names in brackets are no ' +
    'functions. The address of the page holds what is shown: copy it to show ' +
    'somebody the same.',
];

function fillHelp(help) {
  const keys = keyList.map(([names, text]) =>
    make(
      'div',
      {},
      make(
        'dt',
        {},
        ...names.flatMap((name) => [
          make('kbd', {textContent: keyNames[name] || name}),
          ' ',
        ]),
      ),
      make('dd', {textContent: text}),
    ),
  );
  const close = make('button', {type: 'button', textContent: 'Close'});
  close.addEventListener('click', () => help.close());
  help.append(
    make('h2', {id: 'help-title', textContent: 'Keys'}),
    make('dl', {className: 'keys'}, ...keys),
    ...helpTexts.map((text) => make('p', {textContent: text})),
    make('p', {}, close),
  );
}

function listenToKeys() {
  const keys = new Map();
  for (const [names, , act] of keyList)
    for (const name of names) keys.set(name, act);
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, select, dialog');
    const pressing =
      event.target.closest('button, summary') &&
      ['Enter', ' '].includes(event.key);
    if (typing || pressing || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.target === $('timeline') && timelineKey(event)) return;
    const act = keys.get(event.key);
    if (!act) return;
    event.preventDefault();
    act(event.key);
  });
}

// While the time line has the focus its arrows move the range.
function timelineKey(event) {
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1}[
    event.key
  ];
  if (!step) return false;
  nudge(step, event.shiftKey);
  event.preventDefault();
  return true;
}
