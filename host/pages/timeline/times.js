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
