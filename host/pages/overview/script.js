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
  const share = shareText(own / (own + weight));
  return make(
    'tr',
    {className: 'own'},
    make('td', {className: 'number', textContent: share}),
    make('td', {className: 'number', textContent: '–'}),
    make('td', {
      className: 'name',
      textContent: '[the profiler itself], in no other share',
    }),
    make('td', {}),
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
  showRecording(head);
  $('viewers').append(...viewersOf(head).map(viewerItem));
  document.body.dataset.ready = 'yes';
}

readPayload().then(({head}) => show(head));
