// SPDX-License-Identifier: Apache-2.0
// Keys: each does what a button or the mouse does. The help lists them.

const pan = (part) => {
  const by = part * (view.to - view.from);
  setTimes(view.from + by, view.to + by);
  changed('view');
};

// Around the last click; else around the chosen object; else the middle.
const zoomBy = (times) => {
  const object = view.chosen && rowOfObject(view.chosen) >= 0;
  const middle =
    shown.clicked !== null
      ? xOf(shown.clicked)
      : object
        ? xOf((model.objects.begin[view.chosen] + endOf(view.chosen)) / 2)
        : port.width / 2;
  zoomTo(times, middle > 0 && middle < port.width ? middle : port.width / 2);
  changed('view');
};

// Rows between two parts are.
const isEmptyRow = (row) =>
  items.bandAt[row] < 0 && items.rowFrom[row] === items.rowFrom[row + 1];

// Chooses the neighbour in a direction, of what is chosen or in the middle.
function walk(rows, along) {
  const yOf = projection(view.focus);
  if (!view.chosen || rowOfObject(view.chosen) < 0) {
    let row = rowOfY(port.height / 2, yOf);
    while (row > 0 && isEmptyRow(row)) --row;
    chooseInRow(row, timeOf(port.width / 2));
    return;
  }
  const item = items.ofObject[view.chosen],
    row = items.rows[item];
  if (along && items.group[item] >= 0) {
    chooseInGroup(items.group[item], along);
    return;
  }
  if (along) {
    const {rowFrom, byRow} = items;
    let at = rowFrom[row];
    while (byRow[at] !== item) ++at;
    at += along;
    if (at >= rowFrom[row] && at < rowFrom[row + 1]) chooseItem(byRow[at]);
    return;
  }
  const middle = (items.begin[item] + items.end[item]) / 2;
  let next = rows > 0 ? row + items.tall[item] : row - 1;
  while (next > 0 && next < items.height && isEmptyRow(next)) next += rows;
  chooseInRow(
    clamp(next, 0, items.height - 1),
    clamp(middle, view.from, view.to),
  );
}

// Of a group the object that ended next, or before the chosen one.
function chooseInGroup(group, along) {
  const {band} = groups[group];
  if (!band) return;
  const o = band.byEnd[band.byEnd.indexOf(view.chosen) + along];
  if (!o) return;
  choose(o);
  bringIntoSight(o);
}

// The longest-lived object of a group of those in sight, or of all.
function longestOf({shown}) {
  const isSeen = (o) => endOf(o) >= view.from && endOf(o) <= view.to;
  const seen = shown.filter(isSeen),
    list = seen.length ? seen : shown;
  return list.reduce((a, b) => (lifeOf(b) > lifeOf(a) ? b : a));
}

function chooseItem(item) {
  const group = items.group[item],
    object = group >= 0 ? longestOf(groups[group]) : items.object[item];
  choose(object);
  bringIntoSight(object);
}

function toggleGroup() {
  const group = groups.findIndex(({members}) => members.includes(view.chosen));
  if (group >= 0 && isLarge(groups[group])) choose(-1 - group);
}

function chooseInRow(at, time) {
  const {rowFrom, byRow, bandAt, rows} = items,
    row = bandAt[at] >= 0 ? rows[bandAt[at]] : at;
  if (!items.height || rowFrom[row] === rowFrom[row + 1]) return;
  const first = Math.min(firstInRow(row, time), rowFrom[row + 1] - 1);
  chooseItem(byRow[first]);
}

const keyList = [
  [['ArrowUp'], 'choose the object above', () => walk(-1, 0)],
  [['ArrowDown'], 'choose the object below', () => walk(1, 0)],
  [['ArrowLeft'], 'choose the previous one in the row', () => walk(0, -1)],
  [['ArrowRight'], 'choose the next one in the row', () => walk(0, 1)],
  [['a', 'd'], 'move in time', (key) => pan(key === 'a' ? -0.2 : 0.2)],
  [
    ['w', 's', '+', '-'],
    'zoom in or out, around the last click',
    (key) => zoomBy('w+'.includes(key) ? 0.7 : 1 / 0.7),
  ],
  [['0'], 'show all of the time', () => showAllTimes()],
  [['Enter', 'z'], 'zoom to the chosen object', () => zoomToChosen()],
  [
    ['[', ']'],
    'begin or end the selection at the chosen object',
    (key) => selectAt(key === ']'),
  ],
  [['x'], 'select the life of the chosen object', () => selectChosen()],
  [['b'], 'simplify continuations or not', () => toggle('simplified')],
  [['e'], 'open or close the group of the chosen object', () => toggleGroup()],
  [['g'], 'group alike objects or not', () => toggle('grouped')],
  [['c'], 'draw counters or not', () => toggle('counters')],
  [['i'], 'draw rows of interrupts or not', () => toggle('interrupts')],
  [['k'], 'draw the critical path', () => togglePath()],
  [['h'], 'hide the site of the chosen object', () => filterChosen('hidden')],
  [['o'], 'show only that site', () => filterChosen('only')],
  [['/'], 'search', () => $('words').select()],
  [['n'], 'next match', () => nextMatch(1)],
  [['N'], 'previous match', () => nextMatch(-1)],
  [
    ['1', '2', '3', '4', '5', '6'],
    'show a panel',
    (key) => setPanel(PANELS[key - 1]),
  ],
  [
    ['v'],
    'show where tasks run, or where they wait',
    () => setWaits(view.panel === 'stacks' && !view.waits),
  ],
  [['t'], 'next theme', () => $('theme').click()],
  [['p'], 'save a picture', () => savePng()],
  [['r'], 'reset the view', () => resetView()],
  [['?'], 'show this help', () => showHelp()],
  [['Escape'], 'leave search, selection, choice', () => stepBack()],
];

const helpTexts = [
  'Mouse: drag to move, turn the wheel to zoom in time, Shift and drag to ' +
    'select a time, click an object for its details, click a group to open it.',
  'Touch: drag to move, spread or pinch two fingers to zoom around them and ' +
    'move them to move, tap to choose. The buttons + and \u2212 zoom around ' +
    'the point that was last clicked or tapped.',
  'A group of many alike objects shows how many exist (blue) and are ready ' +
    '(orange), when one of them runs (white, below), and each life at its ' +
    'end, the longer the higher; red ones failed. Click a life to choose it.',
  'A line is an object from its creation to its end; it is white where it ' +
    'runs, orange where it could run and something else held the loop. The ' +
    'ground is darker while the loop was idle. Arrows slope by the delay ' +
    'between their ends. A triangle: still pending.',
  'The rows above are interrupts, one for each vector, and the event loop. A ' +
    'mark is an interrupt while it is handled; it is orange from then on ' +
    'until the work is begun that it left to an object. The loop is white ' +
    'where it runs itself.',
  'The address of this page includes the view: copy it to show someone the ' +
    'same.',
];
