// SPDX-License-Identifier: Apache-2.0
// The first page of `parasite open`: what was recorded, the hottest functions,
// and where to look at them. All text goes in as text, never as markup.

// Other viewers: a name, our file for it, and how it is opened there.
const viewersOf = ({port}) => {
  const here = `http://127.0.0.1:${port}/`,
    encoded = (file) => encodeURIComponent(here + file);
  return [
    {
      name: 'Firefox Profiler',
      file: 'profile.json',
      link: 'https://profiler.firefox.com/from-url/' + encoded('profile.json/'),
    },
    {
      name: 'speedscope and flamegraph.pl',
      file: 'profile.folded',
      link:
        'https://www.speedscope.app/#profileURL=' + encoded('profile.folded'),
    },
    {
      name: 'Perfetto',
      file: 'profile.perfetto-trace',
      link: 'https://ui.perfetto.dev/',
      byHand: true,
    },
    {
      name: 'pprof',
      file: 'profile.pb.gz',
      command: `go tool pprof ${here}profile.pb.gz`,
    },
    {
      name: 'perf',
      file: 'perf.data',
      command: 'perf report -i perf.data',
    },
    {
      name: 'KCachegrind',
      file: 'callgrind.out',
      command: 'kcachegrind callgrind.out',
    },
    {name: "Chrome's about:tracing", file: 'profile.trace.json'},
  ];
};

const link = (href, text, properties) =>
  make('a', {href, textContent: text, ...properties});

function viewerItem({name, file, link: there, byHand, command}) {
  const item = make('li', {}, make('b', name), ': ');
  item.append(link(file, file));
  if (there)
    item.append(
      ', ',
      link(there, byHand ? 'open the viewer' : 'open there', {
        rel: 'noreferrer',
      }),
    );
  if (command) item.append(make('p', {}, make('code', command)));
  return item;
}

function shareCell(weight, whole, few = false) {
  const share = whole > 0 ? weight / whole : 0;
  const cell = make('td', {
    className: 'number',
    textContent: fewMark(few) + shareText(share),
    title: few ? FEW_TITLE : '',
  });
  cell.style.setProperty('--share', Math.min(1, share).toFixed(3));
  return cell;
}

const toFunction = (page, letter, name) =>
  `${page}#` + new URLSearchParams({[letter]: name});

function functionRow({name, self, total, code, few}, whole) {
  const stacks = toFunction('flame.html', 'v', name),
    lines = toFunction('annotate.html', 'f', name);
  return make(
    'tr',
    {},
    shareCell(self, whole, few),
    shareCell(total, whole),
    make(
      'td',
      {className: 'name', title: name.slice(0, 500)},
      link(code ? lines : stacks, name.slice(0, 1000)),
    ),
    make(
      'td',
      {},
      link(stacks, 'Graph', {title: 'Callers and callees of this function'}),
    ),
  );
}

// The profiler's own time is in no other share: its own is that of all.
function ownRow({own, weight}) {
  return make(
    'tr',
    {className: 'own'},
    shareCell(own, own + weight),
    make('td', {className: 'number', textContent: '–'}),
    make('td', {
      className: 'name',
      textContent: '[the profiler itself], in no other share',
    }),
    make('td', {}),
  );
}

// A table of what (rows) has: columns are [head, text or element of a row], of
// which the first is a name; its whole text is by (title).
function tableOf(id, words, columns, rows, title = () => '') {
  const head = make('tr', {}, ...columns.map(([name]) => make('th', name)));
  const lines = rows.map((row) =>
    make(
      'tr',
      {},
      ...columns.map(([, text], i) =>
        make(
          'td',
          {className: i ? 'number' : 'name', title: i ? '' : title(row)},
          text(row),
        ),
      ),
    ),
  );
  return make(
    'table',
    {id},
    ...(words ? [make('caption', words)] : []),
    make('thead', {}, head),
    make('tbody', {}, ...lines),
  );
}

// ---- several CPUs, and code with interrupts off

const ofCpu = (ns, {busy_ns, idle_ns}) =>
  shareText(busy_ns + idle_ns ? ns / (busy_ns + idle_ns) : 0);
const clockText = ({tsc_offset, clock_error_ns}) => {
  if (tsc_offset === undefined) return '\u2013';
  return clock_error_ns === undefined
    ? 'unknown'
    : `\u00b1${(clock_error_ns / 1e3).toFixed(2)} \u00b5s`;
};
const CPU_COLUMNS = [
  ['CPU', ({cpu}) => link(`flame.html#p=${cpu}`, `CPU ${cpu}`)],
  ['Samples', ({samples}) => countText(samples)],
  ['Busy', (one) => ofCpu(one.busy_ns, one)],
  ['Interrupts off', (one) => ofCpu(one.irqs_off_ns, one)],
  ['Lost', ({dropped, discarded}) => countText(dropped + discarded)],
  ['Missed', ({missed_ticks}) => countText(missed_ticks)],
  ['Merged', ({merged}) => countText(merged)],
  ['Duplicates', ({duplicates}) => countText(duplicates)],
  ['Clock', clockText],
];

// How long how many CPUs were busy, of the time of ticks that were joined.
function atOnceText({busy, joined, samples}) {
  const all = busy.reduce((sum, one) => sum + one, 0);
  const parts = busy.flatMap((clocks, count) =>
    clocks ? [`${count}: ${shareText(clocks / all)}`] : [],
  );
  return (
    `CPUs that were busy at once, by the time: ${parts.join(', ')}. ` +
    `${shareText(joined / samples)} of the samples are joined with those of ` +
    'all other CPUs; the rest is in no share of this.'
  );
}

function showCpus({cpus, ticks}) {
  if (cpus.length < 2) return;
  $('cpus').hidden = false;
  $('latency').hidden = !ticks;
  $('at-once').textContent = ticks
    ? atOnceText(ticks)
    : 'What they did at once is not known: no samples of all CPUs are of ' +
      'one moment, or only some were asked for.';
  $('cpus').append(tableOf('each-cpu', '', CPU_COLUMNS, cpus));
}

const STRETCH_COLUMNS = [
  [
    'Function, and its caller',
    ({symbol, caller}) =>
      caller ? `${symbol} \u2190 ${caller}` : symbol || '[several functions]',
  ],
  ['CPU', ({cpu}) => String(cpu)],
  ['At least', ({least_ns}) => secondsText(least_ns / 1e9)],
  ['At most', ({most_ns}) => (most_ns ? secondsText(most_ns / 1e9) : '\u2013')],
  ['Samples', ({samples}) => countText(samples)],
];
const NS_PER_CLOCK = 1e9 / CLOCK_HZ;

// Its time in the trace leads to it in the graph, which begins at (from_ns) of
// the trace.
const beginColumn = (from_ns) => [
  'Begins',
  ({cpu, begin_ns, least_ns}) => {
    const at = begin_ns - from_ns;
    const range = [at, at + least_ns + NS_PER_CLOCK];
    const [from, to] = range.map((ns) => Math.round(ns / NS_PER_CLOCK));
    const there = new URLSearchParams({w: 'off', p: cpu, r: `${from}-${to}`});
    return link(`flame.html#${there}`, `${(begin_ns / 1e9).toFixed(6)} s`);
  },
];

function showIrqsOff({irqs_off_clocks, all_clocks, stretches, from_ns}) {
  if (!irqs_off_clocks) return;
  $('irqs-off').hidden = $('off').hidden = false;
  $('irqs-share').textContent =
    `Interrupts were off in ${shareText(irqs_off_clocks / all_clocks)} of ` +
    'all time. The longest stretches last from the first sample to the last ' +
    'at least, and at most from the sample before to the one after.';
  const columns = [...STRETCH_COLUMNS, beginColumn(from_ns)];
  $('irqs-off').append(tableOf('stretches', '', columns, stretches));
}

// ---- who held the event loop

// A number with its unit, of nanoseconds.
const nsText = (ns) => (ns > 0 ? secondsText(ns / 1e9) : '\u2013');

const placeOf = ({site, file, line}) =>
  file ? `${site} (${file}:${line})` : site;

// A table of sites: columns are [head, text of a site].
function loopTable(id, words, columns, sites) {
  const table = tableOf(id, words, columns, sites.slice(0, LOOP_ROWS), placeOf);
  if (sites.length <= LOOP_ROWS) return [table];
  const left = `${sites.length - LOOP_ROWS} more are in parasite loop.`;
  return [table, make('p', left)];
}

const LOOP_ROWS = 25;
const RUN_COLUMNS = [
  ['Site', placeOf],
  ['Own', ({own}) => shareText(own)],
  ['Tasks', ({made}) => countText(made)],
  ['Pending', ({pending}) => countText(pending)],
  ['99 % of runs', ({run_p99}) => nsText(run_p99)],
  ['Longest run', ({longest_run}) => nsText(longest_run)],
  ['99 % of delays', ({delay_p99}) => nsText(delay_p99)],
];
const CALL_COLUMNS = [
  ['Site', placeOf],
  ['Ended', ({ended}) => countText(ended)],
  ['Pending', ({pending}) => countText(pending)],
  ['Mean', ({mean}) => nsText(mean)],
  ['50 %', ({p50}) => nsText(p50)],
  ['90 %', ({p90}) => nsText(p90)],
  ['99 %', ({p99}) => nsText(p99)],
  ['Longest', ({longest}) => nsText(longest)],
  ['Its number', ({longest_task}) => longest_task || '\u2013'],
];

function showLoop({busy, refused, loops, sites}) {
  const panel = $('loop');
  panel.hidden = false;
  $('busy').textContent =
    loops > 1
      ? `The loops of ${loops} CPUs together were busy for ` +
        `${shareText(busy)} of their time.`
      : `It was busy for ${shareText(busy)} of the time.`;
  const futures = sites
      .filter(({future}) => future)
      .sort((a, b) => b.mean * b.ended - a.mean * a.ended),
    tasks = sites.filter(({future, own, made}) => !future && (own || made)),
    calls = tasks.filter(({ended}) => ended);
  panel.append(...loopTable('held', 'Who held it', RUN_COLUMNS, tasks));
  if (calls.length)
    panel.append(
      ...loopTable(
        'calls',
        'Own time of a task, from its creation to its end',
        CALL_COLUMNS,
        calls,
      ),
    );
  if (futures.length)
    panel.append(
      ...loopTable(
        'futures',
        'Futures: how long they were pending',
        CALL_COLUMNS,
        futures,
      ),
    );
  if (refused)
    panel.append(
      make(
        'p',
        `${countText(refused)} tasks or futures had no room, and are in none ` +
          'of these: prof.loop_calls.',
      ),
    );
}

function showRecording(head) {
  const facts = [
    ['Trace', head.trace],
    ['Image', head.image ?? 'unknown: give it with -k'],
    ['Build-id', head.build_id],
    ['Idle', shareText(head.samples ? head.idle / head.samples : 0)],
  ];
  $('recording').append(...factPairs(facts));
}

function show(head) {
  const name = head.trace.split('/').filter(Boolean).pop() || head.trace;
  document.title = $('title').textContent = name;
  $('title').title = head.trace;
  $('facts').textContent = [
    samplesText(head.samples),
    secondsText(head.clocks / CLOCK_HZ),
    Math.round(head.hz) + ' Hz',
    head.arch,
  ].join(' \u00b7 ');
  putNotes([
    ...fewSamples(head.samples),
    ...steadyNote(head),
    ...lossesOfSide(head),
  ]);
  $('code').hidden = !head.functions.some(({code}) => code);
  $('rows').append(
    ...head.functions.map((one) => functionRow(one, head.weight)),
  );
  if (head.own > 0) $('rows').append(ownRow(head));
  if (head.functions_not_shown > 0)
    $('rest').append(
      plural(
        head.functions_not_shown,
        'more function is',
        'more functions are',
      ),
      ' in the ',
      link('flame.html', 'flame graph'),
    );
  showCpus(head);
  showIrqsOff(head);
  if (head.loop) showLoop(head.loop);
  showRecording(head);
  $('viewers').append(...viewersOf(head).map(viewerItem));
  document.body.dataset.ready = 'yes';
}

readPayload().then(({head}) => show(head));
