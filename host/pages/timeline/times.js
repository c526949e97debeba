// SPDX-License-Identifier: Apache-2.0
// The panel of response times: from one kind of event to another.

function picker(id, label, name) {
  const select = make('select', {id, title: label});
  for (const [value, textContent] of marksThere())
    select.append(make('option', {value, textContent}));
  select.value = view[name];
  select.ariaLabel = label;
  const change = () => {
    view[name] = select.value;
    keepHash();
    showPanel();
  };
  return listen(select, {change});
}

function histogramChart(times) {
  const bars = histogram(times),
    most = Math.max(1, ...bars.map((bar) => bar[2]));
  const svg = shape('svg', {
    class: 'chart',
    viewBox: `0 0 ${bars.length * 10} 100`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': 'Histogram of response times',
  });
  for (const [i, [from, to, count]] of bars.entries()) {
    const height = (96 * count) / most,
      [x, y] = [i * 10 + 0.5, 100 - height],
      words = `${clocksText(from)} to ${clocksText(to)}: ${count}`,
      place = {x, y, width: 9, height, fill: 'var(--density)'};
    svg.append(shape('rect', place, shape('title', {}, words)));
  }
  return svg;
}

function percentileTable(times, open, clocks) {
  const at = (part) => partText(times, part);
  const seconds = clocks / model.head.clock_hz;
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  return listOfFacts([
    ['Pairs', countText(times.length)],
    ['Rate', `${(times.length / seconds).toPrecision(3)} a second`],
    ['Mean', clocksText(mean)],
    ['p50', at(0.5)],
    ['p90', at(0.9)],
    ['p99', at(0.99)],
    ['p99.9', at(0.999)],
    ['Longest', at(1)],
    ['Without an answer', countText(open)],
  ]);
}

const selectedTimes = () => view.range || [0, model.lastTime + 1];

function* timesAndCounts() {
  const [begin, end] = selectedTimes();
  const response = yield* responseTimes(view.mark, view.until, begin, end);
  return {...response, counts: yield* countEvents(begin, end), begin, end};
}

function showTimes(panel) {
  const result = make('div', {});
  panel.append(
    make(
      'div',
      {className: 'pickers'},
      'From',
      picker('mark', 'The event that begins', 'mark'),
      'to',
      picker('until', 'The event that ends', 'until'),
    ),
    make(
      'p',
      'Of the same object, among what is shown' +
        (view.range ? ', in the selected time.' : '.'),
    ),
    result,
  );
  panelWork = inSlices(timesAndCounts(), (all) => {
    const {times, open, counts, begin, end} = all;
    if (times.length)
      result.append(
        percentileTable(times, open, end - begin),
        histogramChart(times),
      );
    else result.append(make('p', 'There is no such pair.'));
    const rows = [...counts].map((count, kind) => [
      arrowWords(MARKS[kind] || 'label'),
      countText(count),
      countText((count * model.head.clock_hz) / (end - begin)),
    ]);
    const seen = rows.filter((_, kind) => counts[kind]);
    result.append(tableOf('counts', ['Event', 'Count', 'A second'], seen));
    panel.dataset.done = 'yes';
  });
}

// ---- counts, rates and response times of what is selected: a stretch of time,
// and the objects that are shown.

// What a response time may run from and to: the kinds of edges, and running.
// Labels can be chosen as well.
const MARKS = [...ARROWS.slice(0, ARROW.failed_read), 'run'];

// The events of the trace that are about an object, as far as they are marks:
// [time, kind, object] in three columns, made once. Kinds from LABELS on are
// labels, by their names.
const LABELS = 256;
let marks = null;

function allMarks() {
  if (marks) return marks;
  const {edges, spans, labels} = model,
    list = [];
  for (let i = 0; i < edges.time.length; ++i)
    list.push([edges.time[i], edges.kind[i], edges.to[i]]);
  for (let i = 0; i < spans.count; ++i)
    if (spans.state[i] === TASKS_STATE.running && !isSystem(spans.object[i]))
      list.push([spans.begin[i], MARKS.indexOf('run'), spans.object[i]]);
  for (let i = 0; i < labels.count; ++i)
    list.push([labels.time[i], LABELS + labels.name[i], labels.object[i]]);
  list.sort((a, b) => a[0] - b[0]);
  marks = {
    time: Float64Array.from(list, (mark) => mark[0]),
    kind: Int32Array.from(list, (mark) => mark[1]),
    object: Int32Array.from(list, (mark) => mark[2]),
  };
  return marks;
}

// What can be chosen: [value, words] each.
function marksThere() {
  const {head} = model,
    kinds = new Set(allMarks().kind);
  const labels = [...kinds].filter((kind) => kind >= LABELS).slice(0, 200);
  return [
    ...MARKS.filter((_, kind) => kinds.has(kind)).map((mark) => [
      mark,
      arrowWords(mark),
    ]),
    ...labels
      .map((kind) => head.names[kind - LABELS])
      .map((name) => ['label:' + name, name]),
  ];
}

const markOf = (value) =>
  value.startsWith('label:')
    ? LABELS + model.head.names.indexOf(value.slice(6))
    : MARKS.indexOf(value);

const isCounted = (object) =>
  !object || isSystem(object) || items.ofObject[object] >= 0;

// Times from each mark (from) of an object to its next mark (to), in
// [begin, end).
function* responseTimes(from, to, begin, end) {
  const {time, kind, object} = allMarks(),
    kindFrom = markOf(from),
    kindTo = markOf(to),
    open = new Map(),
    times = [];
  for (let i = firstAtLeast(time, begin); time[i] < end; ++i) {
    if (i % 8192 === 0) yield;
    const o = object[i];
    if (!isCounted(o)) continue;
    if (kind[i] === kindTo && open.has(o)) {
      times.push(time[i] - open.get(o));
      open.delete(o);
    }
    if (kind[i] === kindFrom && !open.has(o)) open.set(o, time[i]);
  }
  return {times: Float64Array.from(times).sort(), open: open.size};
}

// Marks by kind in [begin, end) of what is shown; labels are one.
function* countEvents(begin, end) {
  const {time, kind, object} = allMarks(),
    counts = new Float64Array(MARKS.length + 1);
  for (let i = firstAtLeast(time, begin); time[i] < end; ++i) {
    if (i % 8192 === 0) yield;
    if (isCounted(object[i])) ++counts[Math.min(kind[i], MARKS.length)];
  }
  return counts;
}

// The value below which (part) of sorted (times) are: the nearest rank.
const percentile = (times, part) =>
  times[Math.max(0, Math.ceil(part * times.length) - 1)];

// Equal steps of the logarithm: [from, to, count] each.
function histogram(times, bars = 30) {
  if (times.length === 0) return [];
  const least = Math.max(1, times[0]),
    most = Math.max(least * 1.01, times[times.length - 1]);
  const unit = Math.log(most / least) / bars,
    counts = new Array(bars).fill(0);
  for (const time of times)
    ++counts[
      Math.min(bars - 1, Math.floor(Math.log(Math.max(1, time) / least) / unit))
    ];
  return counts.map((count, i) => [
    least * Math.exp(i * unit),
    least * Math.exp((i + 1) * unit),
    count,
  ]);
}
