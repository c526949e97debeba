// SPDX-License-Identifier: Apache-2.0
// The time of a service by the minute, and its builds below. Sizes are those of
// the view box.

const WIDTH = 1000,
  HEIGHT = 150,
  LEFT = 46,
  RIGHT = 8,
  TOP = 16,
  ROW = 18, // of a build
  ROWS_MAX = 8;

const percent = (part, digits = 2) => (100 * part).toFixed(digits) + ' %';

const twoDigits = (number) => String(number).padStart(2, '0');

// Of UTC, as the store's days are.
function clockText(seconds, withDay = false) {
  const date = new Date(1000 * seconds);
  const time =
    twoDigits(date.getUTCHours()) + ':' + twoDigits(date.getUTCMinutes());
  return withDay ? `${date.toISOString().slice(0, 10)} ${time}` : time;
}

const SUMS = [
  'guests',
  'ticks',
  'attributed',
  'idle',
  'masked',
  'unresolved',
  'dropped',
  'missed',
];

// The rows of (minutes), added up by what (keyOf) says.
function addedUp(minutes, keyOf) {
  const sums = new Map();
  for (const minute of minutes) {
    const key = keyOf(minute);
    if (!sums.has(key))
      sums.set(key, {
        at: minute.at,
        ...Object.fromEntries(SUMS.map((s) => [s, 0])),
      });
    for (const name of SUMS) sums.get(key)[name] += minute[name];
  }
  return sums;
}

// How a minute's ticks are divided, from below.
const partsOf = (sum) => [
  ['busy', sum.attributed + sum.unresolved],
  ['masked', sum.masked],
  ['idle', sum.idle],
  ['lost', sum.dropped + sum.missed],
];

const textAt = (x, y, anchor, text) =>
  shape('text', {x, y, 'text-anchor': anchor}, text);

function placeOf({since, until}) {
  const per = (WIDTH - LEFT - RIGHT) / (until - since);
  return (at) => LEFT + (at - since) * per;
}

function gridOf(head, xOf, bottom) {
  const lines = [0, 0.5, 1].flatMap((part) => {
    const y = TOP + (1 - part) * HEIGHT;
    return [
      shape('line', {class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y}),
      textAt(LEFT - 6, y + 4, 'end', percent(part, 0)),
    ];
  });
  const steps = [60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400];
  const length = head.until - head.since;
  const step = steps.find((each) => length / each <= 10) || 7 * 86400;
  for (
    let at = Math.ceil(head.since / step) * step;
    at < head.until;
    at += step
  )
    lines.push(textAt(xOf(at), bottom, 'middle', clockText(at, step >= 43200)));
  return lines;
}

function columnOf(sum, x, width) {
  const column = shape('g', {class: 'minute'});
  let y = TOP + HEIGHT;
  for (const [name, ticks] of partsOf(sum)) {
    const height = sum.ticks > 0 ? (HEIGHT * ticks) / sum.ticks : 0;
    y -= height;
    if (height > 0)
      column.append(shape('rect', {class: name, x, y, width, height}));
  }
  column.sum = sum;
  return column;
}

const firstSeen = (minutes) =>
  minutes.reduce((first, {build, at}) => {
    first.set(build, Math.min(at, first.get(build) ?? at));
    return first;
  }, new Map());

// A row of the minutes in which guests ran a build, the fuller the more.
function buildRow(minutes, most, xOf, width, y) {
  const [{service, build}] = minutes;
  const name = `${service} ${build.slice(0, 12)}`;
  const row = shape('g', {class: 'build'}, textAt(LEFT, y - 2, 'start', name));
  for (const {at, guests} of minutes)
    row.append(
      shape('rect', {
        class: 'busy',
        x: xOf(at),
        y,
        width,
        height: 4,
        opacity: 0.25 + (0.75 * guests) / most,
      }),
    );
  return row;
}

// The picture of these (minutes) of (head), which has the times.
function chartOf(head, minutes) {
  const first = [...firstSeen(minutes)].sort((a, b) => a[1] - b[1]);
  const shown = first.slice(-ROWS_MAX),
    left = first.length - shown.length,
    bottom = TOP + HEIGHT + 18;
  const height = bottom + 8 + ROW * (shown.length + (left > 0));
  const svg = shape('svg', {
    viewBox: `0 0 ${WIDTH} ${height}`,
    role: 'img',
    'aria-label': 'Time by the minute',
  });
  const xOf = placeOf(head),
    width = Math.max(0.5, xOf(head.since + head.bucket) - LEFT - 0.5);
  svg.append(...gridOf(head, xOf, bottom));
  for (const sum of addedUp(minutes, ({at}) => at).values())
    svg.append(columnOf(sum, xOf(sum.at), width));
  const most = Math.max(1, ...minutes.map(({guests}) => guests));
  shown.forEach(([build, at], row) => {
    const y = bottom + 20 + ROW * row;
    const own = minutes.filter((minute) => minute.build === build);
    svg.append(buildRow(own, most, xOf, width, y));
    if (at <= first[0][1]) return;
    const x = xOf(at);
    svg.append(
      shape('line', {class: 'mark', x1: x, x2: x, y1: TOP - 4, y2: y}),
      textAt(x, TOP - 6, 'middle', build.slice(0, 7)),
    );
  });
  if (left) {
    const text = `${countText(left)} earlier build${left > 1 ? 's' : ''}`;
    const y = bottom + 18 + ROW * shown.length;
    svg.append(textAt(LEFT, y, 'start', `and ${text}`));
  }
  return svg;
}

function minuteText(sum) {
  const lines = partsOf(sum).map(
    ([name, ticks]) => `${percent(sum.ticks ? ticks / sum.ticks : 0)} ${name}`,
  );
  return [
    `${clockText(sum.at, true)} UTC, ${countText(sum.guests)} guests`,
    ...lines,
    `${countText(sum.ticks)} ticks`,
  ].join('\n');
}
