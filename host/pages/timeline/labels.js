// SPDX-License-Identifier: Apache-2.0
// Names and labels above the lines, where there is room for them.

const LABEL_FROM = 18; // pixels wide; narrower objects have no name
const LABEL_ROOM = 13; // pixels to the next row; closer ones have no names

function clipped(pen, text, room) {
  const wide = pen.measureText(text).width;
  if (wide <= room) return text;
  const chars = Math.floor((text.length * (room - 8)) / wide);
  return chars < 2 ? '' : text.slice(0, chars) + '\u2026';
}

// The labels of an object in order of time; the name where there is none.
function labelsOf(object) {
  const {labels, head} = model,
    list = [];
  each(by.label, object, (i) =>
    list.push([labels.time[i], head.names[labels.name[i]]]),
  );
  if (list.length === 0) list.push([family.begin[object], siteName(object)]);
  if (isStuck(object))
    list[list.length - 1][1] += `, ${standingOf(object).text}`;
  if (model.objects.state[object] === TASKS_END.failed)
    list.push([
      model.objects.end[object],
      head.names[model.objects.why[object]] || 'failed',
    ]);
  return list;
}

function paintLabelsOf(pen, object, y, x0, x1) {
  const list = labelsOf(object);
  let until = Math.max(4, x0);
  pen.fillStyle = palette.ink;
  for (const [n, [time, text]] of list.entries()) {
    const x = paintX(time);
    const next = n + 1 < list.length ? paintX(list[n + 1][0]) : x1;
    if (next < 0 || x > port.width) continue;
    const at = Math.max(until, Math.min(x, x1 - 4)),
      room = Math.min(Math.max(next, x1), port.width) - at;
    const shown = clipped(pen, text, room);
    if (!shown) continue;
    pen.fillText(shown, at, y - 8);
    until = at + pen.measureText(shown).width + 6;
  }
}

function* paintLabels(pen, yOf) {
  const {begin, end, object} = items;
  for (let row = 0; row < items.height; ++row) {
    const y = yOf(row),
      above = row > 0 ? y - yOf(row - 1) : LABEL_ROOM;
    if (above < LABEL_ROOM) continue;
    let until = -10;
    for (const i of inSight(row)) {
      const x0 = paintX(begin[i]),
        x1 = Math.min(port.width, paintX(end[i]));
      if (!object[i] || x1 - Math.max(0, x0, until) < LABEL_FROM) continue;
      paintLabelsOf(pen, object[i], y, x0, x1);
      until = x1;
    }
    yield;
  }
}
