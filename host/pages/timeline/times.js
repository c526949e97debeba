// SPDX-License-Identifier: Apache-2.0
// The panel of response times: from one kind of event to another.

function picker(id, label, name) {
  const select = make('select', {id, title: label});
  for (const [value, words] of marksThere())
    select.append(make('option', {value, textContent: words}));
  select.value = view[name];
  select.setAttribute('aria-label', label);
  select.addEventListener('change', () => {
    view[name] = select.value;
    keepHash();
    showPanel();
  });
  return select;
}

function histogramChart(times) {
  const bars = histogram(times),
    most = Math.max(1, ...bars.map((bar) => bar[2]));
  const NS = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(NS, 'svg');
  svg.setAttribute('class', 'chart');
  svg.setAttribute('viewBox', `0 0 ${bars.length * 10} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'Histogram of response times');
  for (const [i, [from, to, count]] of bars.entries()) {
    const bar = document.createElementNS(NS, 'rect'),
      title = document.createElementNS(NS, 'title');
    title.textContent = `${clocksText(from)} to ${clocksText(to)}: ${count}`;
    const high = (96 * count) / most;
    for (const [name, value] of Object.entries({
      x: i * 10 + 0.5,
      y: 100 - high,
      width: 9,
      height: high,
      fill: 'var(--density)',
    }))
      bar.setAttribute(name, String(value));
    bar.append(title);
    svg.append(bar);
  }
  return svg;
}

function percentileTable(times, open, clocks) {
  const at = (part) => clocksText(percentile(times, part));
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
    make('p', {
      textContent:
        'Of the same object, among what is shown' +
        (view.range ? ', in the selected time.' : '.'),
    }),
    result,
  );
  panelWork = inSlices(timesAndCounts(), (all) => {
    const {times, open, counts, begin, end} = all;
    if (times.length)
      result.append(
        percentileTable(times, open, end - begin),
        histogramChart(times),
      );
    else result.append(make('p', {textContent: 'There is no such pair.'}));
    const table = make(
      'table',
      {id: 'counts'},
      headRow(['Event', 'Count', 'A second']),
    );
    for (const [kind, count] of counts.entries())
      if (count)
        table.append(
          rowOf([
            (MARKS[kind] || 'label').replace('_', ' '),
            countText(count),
            countText((count * model.head.clock_hz) / (end - begin)),
          ]),
        );
    result.append(table);
    panel.dataset.done = 'yes';
  });
}
