// SPDX-License-Identifier: Apache-2.0
// The picture, in slices, on a canvas of its own: what is narrower than a pixel
// is counted, not drawn, so that a million objects take no longer than can be
// seen of them.

const LINE = 2; // pixels, of an object
const RUN = 4; // of a span in which it runs, and a border of a pixel
const UNKNOWN = 6; // of a span of which nothing is known
const TIP = 6; // of the triangle of what never ended

// Calls (band) for intervals of (records) in sight; those closer than a pixel
// are merged.
function mergedBands(records, band) {
  let x0 = -10,
    x1 = -10;
  const first = firstAtLeast(records.end, port.from);
  for (let i = first; i < records.count && records.begin[i] <= port.to; ++i) {
    const from = Math.max(-1, paintX(records.begin[i])),
      to = Math.min(port.width + 1, paintX(records.end[i]));
    if (from - x1 < 0.5) {
      x1 = Math.max(x1, to);
      continue;
    }
    if (x1 > x0) band(x0, x1);
    x0 = from;
    x1 = Math.max(to, from + 0.5);
  }
  if (x1 > x0) band(x0, x1);
}

// [top, bottom] of the ground of a part, in pixels.
function groundOf(part, yOf) {
  const last = model.head.parts.length - 1,
    [first, next] = items.bands[part];
  return [
    part > 0 ? yOf(first - BETWEEN_PARTS) : 0,
    part < last
      ? yOf(next)
      : port.height - (last > 0 && laneRoom() ? laneRoom() + MARGIN_BOTTOM : 0),
  ];
}

function paintBands(pen, records, colour, caption, [top, bottom]) {
  mergedBands(records, (x0, x1) => {
    pen.fillStyle = colour;
    pen.fillRect(x0, top, x1 - x0, bottom - top);
    const wide = pen.measureText(caption).width;
    if (x1 - x0 < wide + 12) return;
    pen.fillStyle = palette.soft;
    pen.fillText(caption, (x0 + x1 - wide) / 2, top + 12);
  });
}

function paintGround(pen, yOf) {
  const {width, height} = port;
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, width, height);
  for (const part of items.bands.keys()) {
    const ground = groundOf(part, yOf);
    paintBands(pen, model.idles[part], palette.idle, 'idle', ground);
    paintBands(pen, model.pauses[part], palette.pause, 'pause', ground);
    paintBands(
      pen,
      model.stolen[part],
      palette['stolen-band'],
      'stolen',
      ground,
    );
  }
}

// Of what is not known, made once for a theme.
function hatching(pen) {
  palette.hatching = palette.hatching || hatch(pen, palette.bad);
  return palette.hatching;
}

// Over all else: what goes on across a gap is not known.
function paintLosses(pen, yOf) {
  for (const part of items.bands.keys()) {
    const [top, bottom] = groundOf(part, yOf),
      high = Math.min(bottom, port.height - MARGIN_BOTTOM) - top;
    mergedBands(model.losses[part], (x0, x1) => {
      for (const style of [palette.ground, hatching(pen)]) {
        pen.fillStyle = style;
        pen.globalAlpha = style === palette.ground ? 1 : 0.55;
        pen.fillRect(x0 - 1, top, Math.max(3, x1 - x0 + 2), high);
      }
      pen.globalAlpha = 1;
    });
  }
}

function paintParts(pen, yOf) {
  if (items.bands.length < 2) return;
  for (const part of items.bands.keys()) {
    const [top] = groundOf(part, yOf);
    pen.fillStyle = palette.soft;
    if (part > 0) pen.fillRect(0, Math.round(top), port.width, 1);
    haloText(pen, partName(part), 6, top + 12, palette.ink);
  }
}

function paintGrid(pen) {
  const hz = model.head.clock_hz,
    [from, to] = [port.from / hz, port.to / hz];
  const {ticks, step} = ticksOf(from, to, ((to - from) * 110) / port.width);
  for (const tick of ticks) {
    const x = Math.round(paintX(tick * hz));
    pen.fillStyle = palette.grid;
    pen.fillRect(x, 0, 1, port.height - MARGIN_BOTTOM);
    pen.fillStyle = palette.soft;
    const text = secondsText(tick, step, to);
    if (x + 4 + pen.measureText(text).width < port.width)
      pen.fillText(text, x + 4, port.height - MARGIN_BOTTOM / 2);
  }
}

// Lines of the objects of a row, joined where they are closer than a pixel.
function paintRowLines(pen, row, y) {
  const {begin, end} = items;
  let x0 = -10,
    x1 = -10;
  const flush = () => {
    if (x1 > x0) pen.fillRect(x0, y - LINE / 2, Math.max(1, x1 - x0), LINE);
  };
  for (const i of inSight(row)) {
    const from = Math.max(-2, paintX(begin[i])),
      to = Math.min(port.width + 2, paintX(end[i]));
    if (from - x1 < 0.4 && from >= x0) {
      x1 = Math.max(x1, to);
      continue;
    }
    flush();
    x0 = from;
    x1 = Math.max(to, from + 1);
  }
  flush();
}

function paintSpans(pen, object, y) {
  const {spans} = model,
    {list, from} = by.span;
  let until = -10;
  for (let at = from[object]; at < from[object + 1]; ++at) {
    const i = list[at];
    if (spans.end[i] < port.from) continue;
    if (spans.begin[i] > port.to) break;
    if (!PAINTED_SPANS.has(spans.state[i])) continue;
    const x0 = Math.max(-2, paintX(spans.begin[i])),
      x1 = Math.min(port.width + 2, paintX(spans.end[i]));
    if (x1 < until + 0.5 && x1 - x0 < 0.5) continue;
    until = Math.max(x1, x0 + 1);
    paintSpan(pen, spans.state[i], x0, y, Math.max(1, x1 - x0));
  }
}

// The rest of its life is only its line.
const PAINTED_SPANS = new Set([
  TASKS_STATE.running,
  TASKS_STATE.ready,
  TASKS_STATE.unknown,
]);

function paintSpan(pen, state, x, y, wide) {
  const bar = (colour, thick, left, width) => {
    pen.fillStyle = colour;
    pen.fillRect(left, y - thick / 2, width, thick);
  };
  if (state === TASKS_STATE.ready) bar(palette.ready, LINE + 1, x, wide);
  else if (state === TASKS_STATE.unknown) {
    bar(palette.ground, UNKNOWN, x, wide);
    bar(hatching(pen), UNKNOWN, x, wide);
  } else {
    bar(palette.object, RUN + 2, x, wide);
    bar(palette.run, RUN, x + (wide > 3 ? 1 : 0), wide > 3 ? wide - 2 : wide);
  }
}

function paintEnd(pen, object, y) {
  const {objects} = model,
    x = paintX(objects.end[object]);
  if (x < -10 || x > port.width + 10) return;
  const half = {[TASKS_END.failed]: 8, [TASKS_END.cancelled]: 5}[
    objects.state[object]
  ];
  if (half) {
    pen.fillStyle = palette.bad;
    pen.fillRect(x - 1, y - half, 2, 2 * half);
  } else if (objects.state[object] === TASKS_END.open) {
    pen.fillStyle = palette.object;
    pen.beginPath();
    pen.moveTo(x, y - TIP / 2 - 1);
    pen.lineTo(x + TIP + 1, y);
    pen.lineTo(x, y + TIP / 2 + 1);
    pen.fill();
  }
}

// What an object's row has besides its line.
function paintDetails(pen, row, y) {
  const {begin, end, object} = items;
  let until = -10;
  for (const i of inSight(row)) {
    const x0 = paintX(begin[i]),
      x1 = paintX(end[i]);
    if (!object[i] || x1 < until + 0.5) continue;
    until = x1;
    if (object[i] === view.chosen) paintGlow(pen, x0, x1, y);
    if (isVector(object[i])) paintIrqs(pen, object[i], y);
    else paintSpans(pen, object[i], y);
    if (!isSystem(object[i])) paintEnd(pen, object[i], y);
  }
}

function paintGlow(pen, x0, x1, y) {
  pen.fillStyle = palette.glow;
  pen.fillRect(x0 - 4, y - 6, x1 - x0 + 8, 12);
  pen.fillStyle = palette.object;
  pen.fillRect(x0, y - LINE / 2, Math.max(1, x1 - x0), LINE);
}

// Rows that share a pixel: how much of them is in use, as darkness.
function paintPressed(pen, from, to, y) {
  const {width} = port,
    change = new Float32Array(width + 2),
    {begin, end} = items;
  for (let row = from; row < to; ++row)
    for (const i of inSight(row)) {
      const x0 = Math.max(0, Math.floor(paintX(begin[i]))),
        x1 = Math.max(x0 + 1, Math.ceil(paintX(end[i])));
      ++change[x0];
      --change[Math.min(width + 1, x1)];
    }
  let sum = 0,
    begun = 0;
  for (let x = 0; x <= width; ++x) {
    if (change[x] === 0 && x < width) continue;
    if (sum > 0.5) {
      pen.globalAlpha = Math.min(1, 0.25 + (0.75 * sum) / (to - from));
      pen.fillRect(begun, y, x - begun, 1);
    }
    sum += change[x];
    begun = x;
  }
  pen.globalAlpha = 1;
}

// Whether the group (item) is more than a line.
function hasRoom(item, yOf) {
  const [top, bottom] = edgesOfBand(item, yOf);
  return bottom - top >= 4;
}

function* paintRows(pen, yOf) {
  for (let row = 0; row < items.height; ) {
    const y = yOf(row),
      band = items.bandAt[row];
    if (band >= 0 && hasRoom(band, yOf)) {
      yield* paintBand(pen, band, yOf);
      row += items.tall[band];
      continue;
    }
    let next = row + 1;
    while (next < items.height && yOf(next) < Math.floor(y) + 1) ++next;
    pen.fillStyle = palette.object;
    if (next - row > 1) {
      paintPressed(pen, row, next, Math.floor(y));
    } else {
      paintRowLines(pen, row, y);
      paintDetails(pen, row, y);
    }
    row = next;
    yield;
  }
}

// All of it; (yOf) is the projection of rows.
function* paintPicture(pen, yOf) {
  paintGround(pen, yOf);
  paintGrid(pen);
  yield;
  yield* paintRows(pen, yOf);
  yield* paintArrows(pen, yOf);
  yield* paintLabels(pen, yOf);
  yield* paintSteps(pen, yOf);
  yield* paintCounters(pen);
  paintLosses(pen, yOf);
  paintBandNames(pen, yOf);
  paintParts(pen, yOf);
}

// ---- names and labels above the lines, where there is room for them.

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
  if (isSystem(object)) return [[family.begin[object], rowTitle(object)]];
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

// Where the next gap after (time) begins that hides what (object) does, in
// pixels.
function gapAfter(object, time) {
  const records = model.losses[model.objects.part[object]],
    i = firstAtLeast(records.begin, Math.max(time, port.from));
  return i < records.count ? paintX(records.begin[i]) - 3 : Infinity;
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
      last = Math.min(Math.max(next, x1), port.width, gapAfter(object, time)),
      room = last - at;
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
