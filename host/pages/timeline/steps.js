// SPDX-License-Identifier: Apache-2.0
// Who changed which counter: marks on the lines of objects, in the counters'
// colours, what the chosen object did to them, and the menu of counters.

const MARK_BELOW = 4; // pixels, from the middle of an object's line
const MARK_HIGH = 6;
const MARK_ROOM = 8; // pixels to the next row; closer ones have no marks

// Calls (mark) with each step of (object) in sight, those of one pixel once
// for each counter.
function stepsInSight(object, mark) {
  const {time, name} = model.steps,
    list = listOfObject(by.step, object),
    last = new Map();
  for (let at = firstOf(list, time, port.from); at < list.length; ++at) {
    const i = list[at],
      x = Math.round(paintX(time[i]));
    if (time[i] > port.to) break;
    if (last.get(name[i]) === x) continue;
    last.set(name[i], x);
    mark(i, x);
  }
}

function* paintSteps(pen, yOf) {
  const colours = new Map();
  if (view.counters)
    for (const [name, counter] of model.counters)
      if (isDrawnCounter(counter)) colours.set(name, colourOfCounter(counter));
  if (colours.size === 0) return;
  for (let row = 0; row < items.height; ++row) {
    const y = yOf(row);
    if (yOf(row + 1) - y < MARK_ROOM) continue;
    for (const item of inSight(row))
      if (items.object[item])
        stepsInSight(items.object[item], (i, x) => {
          const colour = colours.get(model.steps.name[i]);
          if (!colour) return;
          pen.fillStyle = colour;
          pen.fillRect(x - 1, y + MARK_BELOW, 2, MARK_HIGH);
        });
    yield;
  }
}

const signedText = (number) =>
  (number < 0 ? '\u2212' : '+') + countText(Math.abs(number));

// What (object) did to counters within some pixels of (x), a line each.
function stepTexts(object, x) {
  const {time, name, value, before} = model.steps,
    list = listOfObject(by.step, object),
    texts = [];
  for (
    let at = firstOf(list, time, timeOf(x - 4));
    at < list.length && time[list[at]] <= timeOf(x + 4) && texts.length < 6;
    ++at
  ) {
    const i = list[at],
      change = signedText(value[i] - before[i]);
    texts.push(
      `${model.head.names[name[i]]} ${change}: ${countText(value[i])}`,
    );
  }
  return texts;
}

// The counters that (object) changed: how often, by how much, and to what.
function stepPart(object) {
  const {name, value, before} = model.steps,
    sums = new Map();
  each(by.step, object, (i) => {
    const sum = sums.get(name[i]) || {count: 0, change: 0};
    ++sum.count;
    sum.change += value[i] - before[i];
    sum.last = value[i];
    sums.set(name[i], sum);
  });
  if (sums.size === 0) return [];
  const rows = [...sums].map(([number, {count, change, last}]) => [
    model.head.names[number],
    countText(count),
    signedText(change),
    countText(last),
  ]);
  const names = ['Counter', 'Steps', 'In all', 'Last value'];
  return [make('h3', 'Counters it changed'), tableOf('steps', names, rows)];
}

function fillCounterMenu() {
  $('counting').hidden = model.counters.size === 0;
  checkList(
    'counter-list',
    counterNames(),
    (name) => name,
    (name, number) => !view.uncounted.includes(number),
    (name, number) => {
      view.uncounted = toggled(view.uncounted, number);
      changed('items');
    },
  );
}
