// SPDX-License-Identifier: Apache-2.0
// Keys: each does what a button or the mouse does. The help lists them.

const inDirection = (key) => () => {
  const up = scene.parts.length > 1 ? Boolean(focused?.part.up) : !view.icicle;
  walk((key === 'ArrowUp') === up ? 'in' : 'out');
};

const keyList = [
  [['ArrowUp'], 'select the frame above', inDirection('ArrowUp')],
  [['ArrowDown'], 'select the frame below', inDirection('ArrowDown')],
  [['ArrowLeft'], 'select the frame to the left', () => walk('left')],
  [['ArrowRight'], 'select the frame to the right', () => walk('right')],
  [['Enter', ' '], 'zoom to the selected frame', () => open(focused)],
  [['Backspace', 'h'], 'zoom out one level', () => outwards()],
  [['+'], 'zoom in a step, towards the last click', () => stepByButton()],
  [['-'], 'zoom out a step', () => stepOut()],
  [['r'], 'reset the view', () => resetView()],
  [['v'], 'sandwich: callers and callees', () => showSandwich(view.func)],
  [['x', 'Delete'], 'remove frame and callees', () => removeChosen()],
  [['u'], 'restore removed stacks', () => restoreRemoved()],
  [['/'], 'search', () => $('regex').select()],
  [['n'], 'next match', () => nextMatch(1)],
  [['N'], 'previous match', () => nextMatch(-1)],
  [['i'], 'flame graph or icicle', () => setIcicle(!view.icicle)],
  [['c'], 'next colour scheme', () => nextColour()],
  [['b'], 'next CPU, where there are several', () => nextCpu()],
  [['j'], 'next kind of shares', () => nextShares()],
  [['k'], 'what other CPUs did meanwhile', () => blameChosen()],
  [['m'], 'count samples or time', () => setByTime(!view.byTime)],
  [['t'], 'next theme', () => $('theme').click()],
  [['l'], 'show or hide the function list', () => toggleSide()],
  [
    ['f'],
    'move to the function list',
    () => {
      setSide(true);
      $('rows').focus();
    },
  ],
  [['g'], 'move to the graph', () => $('graph').focus()],
  [['o'], 'sort functions by the next column', () => nextSort()],
  [['[', ']'], 'move the time range', (key) => nudge(key === '[' ? -1 : 1)],
  [
    ['{', '}'],
    'shrink or extend the time range',
    (key) => nudge(key === '{' ? -1 : 1, true),
  ],
  [
    ['0'],
    'select the whole time',
    () => {
      beginTimeline();
      setRange(null);
    },
  ],
  [
    ['w', 's'],
    'zoom the timeline in or out',
    (key) => zoomTime(key === 'w' ? 0.7 : 1 / 0.7, middleOfTime()),
  ],
  [
    ['a', 'd'],
    'scroll the timeline',
    (key) => panTime(key === 'a' ? -0.2 : 0.2),
  ],
  [['y'], 'copy the function name', () => copyName()],
  [['e'], 'save folded stacks', () => saveFolded()],
  [['p'], 'save a picture', () => savePng()],
  [['?'], 'show this help', () => showHelp()],
  [['Escape'], 'leave search, sandwich, zoom', () => stepBack()],
];

function stepBack() {
  if (search.found) {
    clearSearch();
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

const helpTexts = [
  'Mouse: click a frame to zoom, right-click to select it without zooming. ' +
    'Touch: tap a frame to select it, tap it again to zoom, spread two ' +
    'fingers to zoom towards the frame between them, pinch to zoom out.',
  'Timeline: drag to select a time range, drag its ends or its middle to ' +
    'change it, double-click to clear it, turn the wheel or pinch with two ' +
    'fingers to zoom, move them to scroll; keys zoom around the last click. ' +
    'Functions: click to select, double-click for the sandwich view.',
  "A frame's width is its share of what is shown. Names in [brackets] " +
    'are not functions. The address of this page includes the view: copy it ' +
    'to show someone the same.',
];

// While the timeline has the focus its arrows move the range.
function timelineKey(event) {
  if (event.target !== $('timeline')) return false;
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1}[
    event.key
  ];
  if (!step) return false;
  nudge(step, event.shiftKey);
  event.preventDefault();
  return true;
}
