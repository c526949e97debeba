// SPDX-License-Identifier: Apache-2.0
// Where a time and a row are on the screen.
//
// Rows that do not fit are pressed together away from the focal row by the
// hyperbolic tangent, so that all of them are always in sight.

const PITCH = 26; // pixels between rows that fit
const MARGIN_TOP = 34; // pixels, for times and captions
const MARGIN_BOTTOM = 26;
const LANE_LEAST = 60;
const LANE_PART = 0.22; // of the picture
const WIDEST = 5e5; // clocks a pixel, at most
const NARROWEST = 1e-3;

// The picture: its pixels, and the view that is being painted.
const port = {width: 1, height: 1, from: 0, to: 1, focus: 0};

const xIn = ({from, to}, time) => ((time - from) / (to - from)) * port.width;
const xOf = (time) => xIn(view, time);
const paintX = (time) => xIn(port, time);
const timeOf = (x) => view.from + (x / port.width) * (view.to - view.from);

// The counters' lanes are below the rows, which have the rest.
const laneRoom = () =>
  drawnCounters().length
    ? Math.max(LANE_LEAST, Math.round(LANE_PART * port.height))
    : 0;
const roomForRows = () => port.height - MARGIN_TOP - MARGIN_BOTTOM - laneRoom();
const rowsFit = () => items.height * PITCH <= roomForRows();

// The scale of the tangent: wider for a focus near the first or last row, so
// that the margin beyond it is not wasted.
function tangentOf(focus) {
  const high = items.height * PITCH,
    y = focus * PITCH,
    edge = Math.min(y, high - y);
  return port.height * (0.5 - 0.25 * Math.tanh(edge / 1000));
}

// A function from rows to pixels, for the focal row (focus).
function projection(focus) {
  if (rowsFit()) return (row) => MARGIN_TOP + (row + 0.5) * PITCH;
  const scale = 2 * tangentOf(focus),
    f = focus * PITCH;
  const press = (row) => Math.tanh((row * PITCH - f) / scale);
  const top = press(0),
    whole = press(Math.max(1, items.height - 1)) - top;
  return (row) =>
    MARGIN_TOP +
    PITCH / 2 +
    (roomForRows() - PITCH) * ((press(row) - top) / whole);
}

// The row whose middle is nearest to (y).
function rowOfY(y, yOf) {
  const last = Math.max(0, items.height - 1);
  return firstThat(0, last, (row) => (yOf(row) + yOf(row + 1)) / 2 >= y);
}

// The focus with which (row) is at (y): halving, because it has no formula.
function focusFor(row, y) {
  let low = 0,
    high = Math.max(1, items.height - 1);
  for (let i = 0; i < 40; ++i) {
    const middle = (low + high) / 2;
    if (projection(middle)(row) > y) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function setTimes(from, to) {
  const all = Math.max(1, model.lastTime),
    most = all * 1.04;
  const [least, widest] = [NARROWEST, WIDEST].map((one) => one * port.width);
  const span = clamp(to - from, least, Math.min(most, widest));
  const middle = (from + to) / 2;
  view.from = clamp(middle - span / 2, -0.02 * all, 1.02 * all - span);
  view.to = view.from + span;
}

function zoomTo(times, x) {
  const at = timeOf(x);
  setTimes(at - times * (at - view.from), at + times * (view.to - at));
}
