// SPDX-License-Identifier: Apache-2.0
// Arrows between objects. One slopes by the delay between its two ends.

const HEAD = 8; // pixels
const FADE = 4000; // pixels wide: no longer visible
const ARROWS_MAX = 60000; // drawn in one picture; the rest is too dense to see

// The row on which an object is drawn, -1 = none; also of a group's row if
// (inGroups).
function rowOfObject(object, inGroups = true) {
  const item = items.ofObject[object];
  return item < 0 || (!inGroups && items.group[item] >= 0)
    ? -1
    : items.rows[item] + (items.tall[item] - 1) / 2;
}

// Arrows end in order of time, so those in sight are a range.
function firstArrow(time) {
  return firstAtLeast(model.arrows.end, time);
}

const arrowsInSight = () => firstArrow(port.to) - firstArrow(port.from);

function paintHead(pen, x0, y0, x1, y1) {
  const steep = Math.abs(y1 - y0) > 10;
  const dx = steep ? 0 : Math.sign(x1 - x0) || 1,
    dy = steep ? Math.sign(y1 - y0) : 0;
  pen.moveTo(x1 - dx * HEAD - dy * 3, y1 - dy * HEAD - dx * 3);
  pen.lineTo(x1, y1);
  pen.lineTo(x1 - dx * HEAD + dy * 3, y1 - dy * HEAD + dx * 3);
}

// Where arrow (i) goes, or null if it is not to be drawn.
function placeOfArrow(i, yOf) {
  const {arrows} = model,
    from = rowOfObject(arrows.from[i], false),
    to = rowOfObject(arrows.to[i], false);
  if (from < 0 || to < 0 || from === to) return null;
  const x0 = paintX(arrows.begin[i]),
    x1 = paintX(arrows.end[i]);
  if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > port.width + 50) return null;
  return [x0, yOf(from), x1, yOf(to)];
}

function isDrawn(type, i) {
  if (type !== ARROW.create) return view.arrows.includes(ARROWS[type]);
  // hidden where the object is drawn from later on
  const to = model.arrows.to[i];
  return (
    view.arrows.includes('create') &&
    family.begin[to] === model.objects.begin[to]
  );
}

function* paintArrows(pen, yOf) {
  const {arrows} = model,
    span = port.to - port.from,
    seen = new Set();
  let drawn = 0;
  pen.lineWidth = 1;
  const last = firstArrow(port.to + span),
    strength = Math.min(1, 0.25 + 2500 / Math.max(1, arrowsInSight()));
  for (let i = firstArrow(port.from - span); i < last; ++i) {
    if (i % 2048 === 0) yield;
    const type = arrows.type[i];
    if (!isDrawn(type, i)) continue;
    const place = placeOfArrow(i, yOf);
    if (!place || drawn > ARROWS_MAX) continue;
    const [x0, y0, x1, y1] = place;
    const alpha = 1 - Math.abs(x1 - x0) / FADE;
    const key =
      ((Math.round(x0) * 4096 + Math.round(x1)) * 4096 + Math.round(y0)) *
        4096 +
      Math.round(y1);
    if (alpha < 0.02 || seen.has(key)) continue;
    seen.add(key);
    ++drawn;
    pen.globalAlpha = alpha * strength * (type === ARROW.create ? 0.6 : 0.9);
    pen.strokeStyle = palette.arrows[type];
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    if (type !== ARROW.create && Math.abs(y1 - y0) > 4)
      paintHead(pen, x0, y0, x1, y1);
    pen.stroke();
  }
  pen.globalAlpha = 1;
}
