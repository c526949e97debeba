// SPDX-License-Identifier: Apache-2.0
// The panel about the chosen object: what it is, how its life was spent, what
// it waited for, and the critical path to its end.

const clocksText = (clocks) => secondsText(clocks / model.head.clock_hz);
const timeText = (time) =>
  secondsText(
    time / model.head.clock_hz,
    (view.to - view.from) / 1e4 / model.head.clock_hz,
    time / model.head.clock_hz,
  );

// A button that chooses (object).
function objectLink(object) {
  if (!object) return document.createTextNode('none');
  if (isLoop(object)) return document.createTextNode('the event loop');
  const link = make('button', {
    type: 'button',
    className: 'link',
    textContent: objectName(object),
  });
  link.addEventListener('click', () => {
    choose(object);
    bringIntoSight(object);
  });
  return link;
}

function listOfFacts(facts) {
  const list = make('dl', {});
  for (const [term, ...what] of facts)
    list.append(
      make('dt', {textContent: term}),
      make('dd', {}, ...what.filter(Boolean)),
    );
  return list;
}

function factsOf(object) {
  const {objects, head} = model,
    end = objects.state[object],
    last =
      end === ST.open ? 'the end of the trace' : timeText(objects.end[object]);
  const facts = [
    ['Kind', head.types[objects.type[object]]],
    ['Site', siteName(object), sitePlace(object)],
    ['Created by', objectLink(objects.creator[object])],
    ['From', timeText(objects.begin[object])],
    [
      'To',
      `${last} (${clocksText(objects.end[object] - objects.begin[object])})`,
    ],
    ['State', stateText(object)],
  ];
  if (end === ST.failed)
    facts.push(['Because', head.names[objects.why[object]] || 'unknown']);
  if (objects.become[object])
    facts.push(['Merged into', objectLink(objects.become[object])]);
  if (head.traces.length > 1)
    facts.push(['Trace', head.traces[objects.trace[object]].name]);
  return facts;
}

const partText = ({kind, cause, of}) => {
  if (kind === PART.run) return 'running';
  if (kind === PART.ready && of) return cause ? 'ready, woken by ' : 'ready';
  if (kind === PART.ready) return cause ? 'ready, loop held by ' : 'ready: ';
  if (kind === PART.paused) return 'running others, inside it';
  return kind === PART.wait ? 'waiting for ' : '';
};

function rowOfPart(part, whole) {
  const cell = make('td', {});
  if (part.of) cell.append(objectLink(part.of), ': ');
  cell.append(partText(part));
  if (part.cause && part.kind !== PART.run) cell.append(objectLink(part.cause));
  if (part.text) cell.append((part.cause ? ', ' : '') + part.text);
  return make(
    'tr',
    {},
    cell,
    make('td', {textContent: clocksText(part.clocks)}),
    make('td', {textContent: shareText(part.clocks / whole)}),
  );
}

function splitBar(sums, whole) {
  const bar = make('div', {className: 'bar', role: 'img'});
  for (const [kind, clocks] of sums) {
    const part = make('span', {className: kind, title: kind});
    part.style.width = `${(100 * clocks) / whole}%`;
    bar.append(part);
  }
  bar.setAttribute(
    'aria-label',
    sums.map(([kind, c]) => `${kind} ${shareText(c / whole)}`).join(', '),
  );
  return bar;
}

function splitTable({parts, whole, stolen}) {
  const kinds = new Map();
  for (const part of parts)
    kinds.set(part.kind, (kinds.get(part.kind) || 0) + part.clocks);
  const table = make('table', {id: 'split'});
  for (const part of parts.slice(0, 24)) table.append(rowOfPart(part, whole));
  if (stolen)
    table.append(
      make(
        'tr',
        {},
        make('td', {textContent: 'of this stolen by the hypervisor'}),
        make('td', {textContent: clocksText(stolen)}),
        make('td', {textContent: shareText(stolen / whole)}),
      ),
    );
  return [splitBar([...kinds], whole), table];
}

let pathKept = {object: 0, steps: []};

function currentPath() {
  if (pathKept.object !== view.chosen)
    pathKept = {
      object: view.chosen,
      steps: view.chosen
        ? criticalPath(view.chosen, model.objects.end[view.chosen])
        : [],
    };
  return pathKept.steps;
}

function pathPart() {
  const steps = currentPath(),
    {parts, whole} = sharesOfPath(steps);
  const toggle = make('button', {
    type: 'button',
    id: 'path-toggle',
    textContent: view.path ? 'Hide it' : 'Draw it',
    title: 'Draw the critical path (k)',
  });
  toggle.addEventListener('click', () => togglePath());
  const table = make('table', {id: 'path'});
  for (const part of parts.slice(0, 16)) table.append(rowOfPart(part, whole));
  return [
    make(
      'h3',
      {},
      `Critical path: ${countText(steps.length)} steps, ${clocksText(whole)} `,
      toggle,
    ),
    table,
  ];
}

function togglePath() {
  view.path = !view.path;
  changed('view');
  showPanel();
}

const OPEN_MAX = 40;

// What has not ended, that which has stood still for longest first.
function openPart() {
  const {objects} = model,
    list = [];
  let resting = 0;
  for (let o = 1; o < objects.count; ++o) {
    if (isLoop(o) || objects.state[o] !== ST.open) continue;
    if (objects.rests[o]) ++resting;
    else list.push([objects.end[o] - standingOf(o).since, o]);
  }
  list.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const table = make('table', {id: 'open'}, headRow(['Still pending', 'For']));
  for (const [, object] of list.slice(0, OPEN_MAX))
    table.append(
      rowOf([[objectLink(object), sitePlace(object)], standingOf(object).text]),
    );
  const more = [
    list.length > OPEN_MAX ? `${countText(list.length - OPEN_MAX)} more` : '',
    resting ? `${countText(resting)} that rest, as idle mutexes do` : '',
  ].filter(Boolean);
  return [
    ...(list.length ? [table] : []),
    ...(more.length
      ? [make('p', {id: 'resting', textContent: `and ${more.join(', ')}`})]
      : []),
  ];
}

function showObject(panel) {
  const object = view.chosen;
  if (!object) {
    panel.append(
      make('p', {
        textContent:
          'Nothing is chosen: click an object, or use the arrow keys.',
      }),
      ...openPart(),
    );
    return;
  }
  panel.append(
    make('h2', {textContent: objectName(object)}),
    listOfFacts(factsOf(object)),
    make('h3', {textContent: 'Its life'}),
    ...splitTable(splitOf(object)),
    ...waitPart(object),
    ...pathPart(),
    make('h3', {textContent: 'Events'}),
    eventTable(object),
  );
}

// The arrows at an object in order of time.
function eventTable(object) {
  const {arrows} = model,
    rows = [];
  each(by.out, object, (i) => rows.push([arrows.end[i], i, arrows.to[i], '→']));
  each(by.into, object, (i) =>
    rows.push([arrows.end[i], i, arrows.from[i], '←']),
  );
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const table = make('table', {id: 'events'});
  for (const [time, i, other, sign] of rows.slice(0, 60))
    table.append(
      make(
        'tr',
        {},
        make(
          'td',
          {},
          `${ARROWS[arrows.type[i]].replace('_', ' ')} ${sign} `,
          objectLink(other),
        ),
        make('td', {textContent: timeText(time)}),
      ),
    );
  if (rows.length > 60)
    table.append(
      make(
        'tr',
        {},
        make('td', {textContent: `and ${countText(rows.length - 60)} more`}),
        make('td', {}),
      ),
    );
  return table;
}
