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

// A button that chooses (object); or words.
function objectLink(object) {
  if (!object) return 'none';
  const go = () => {
    choose(object);
    bringIntoSight(object);
  };
  return button(objectName(object), go, {className: 'link'});
}

// The CPUs that it ran on, or which it was created on if it never ran.
function cpusText(object) {
  const {objects, spans, head} = model,
    parts = new Set([objects.part[object]]);
  each(by.span, object, (i) => parts.add(spans.part[i]));
  return [...parts].map((part) => head.parts[part].cpu).join(', ');
}

function factsOf(object) {
  const {objects, head} = model,
    end = objects.state[object],
    last =
      end === TASKS_END.open
        ? 'the end of the trace'
        : timeText(objects.end[object]);
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
  if (end === TASKS_END.failed)
    facts.push(['Because', head.names[objects.why[object]] || 'unknown']);
  if (objects.become[object])
    facts.push(['Merged into', objectLink(objects.become[object])]);
  if (head.traces.length > 1)
    facts.push(['Trace', head.traces[objects.trace[object]].name]);
  if (hasCpus(objects.trace[object])) facts.push(['CPU', cpusText(object)]);
  return facts;
}

const kindText = ({kind, cause, of}) => {
  if (kind === PART.run) return 'running';
  if (kind === PART.ready && of) return cause ? 'ready, woken by ' : 'ready';
  if (kind === PART.ready) return cause ? 'ready, loop held by ' : 'ready: ';
  if (kind === PART.paused) return 'running others, inside it';
  return kind === PART.wait ? 'waiting for ' : '';
};

// The cells of a part of (whole), or of a path.
function cellsOfPart(part, whole) {
  const what = part.of ? [objectLink(part.of), ': '] : [];
  what.push(kindText(part));
  if (part.cause && part.kind !== PART.run) what.push(objectLink(part.cause));
  if (part.text) what.push((part.cause ? ', ' : '') + part.text);
  return [what, clocksText(part.clocks), shareText(part.clocks / whole)];
}

function splitBar(sums, whole) {
  const shares = sums.map(([kind, c]) => `${kind} ${shareText(c / whole)}`);
  const parts = sums.map(([kind, clocks]) => {
    const part = make('span', {className: kind, title: kind});
    part.style.width = `${(100 * clocks) / whole}%`;
    return part;
  });
  const ariaLabel = shares.join(', ');
  return make('div', {className: 'bar', role: 'img', ariaLabel}, ...parts);
}

function splitTable({parts, whole, stolen}) {
  const kinds = new Map();
  for (const part of parts)
    kinds.set(part.kind, (kinds.get(part.kind) || 0) + part.clocks);
  const rows = parts.slice(0, 24).map((part) => cellsOfPart(part, whole));
  if (stolen)
    rows.push([
      'of this stolen by the hypervisor',
      clocksText(stolen),
      shareText(stolen / whole),
    ]);
  return [splitBar([...kinds], whole), tableOf('split', [], rows)];
}

let pathKept = {object: 0, steps: []};

function currentPath() {
  const object = view.chosen;
  if (pathKept.object !== object) {
    const steps = object ? criticalPath(object, model.objects.end[object]) : [];
    pathKept = {object, steps};
  }
  return pathKept.steps;
}

function pathPart() {
  const steps = currentPath(),
    {parts, whole} = sharesOfPath(steps);
  const words = `Critical path: ${countText(steps.length)} steps, `;
  const toggle = button(view.path ? 'Hide it' : 'Draw it', togglePath, {
    id: 'path-toggle',
    title: 'Draw the critical path (k)',
  });
  const rows = parts.slice(0, 16).map((part) => cellsOfPart(part, whole));
  return [
    make('h3', {}, words, `${clocksText(whole)} `, toggle),
    tableOf('path', [], rows),
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
    if (isSystem(o) || objects.state[o] !== TASKS_END.open) continue;
    if (objects.rests[o]) ++resting;
    else list.push([stuckFor(o), o]);
  }
  list.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const rows = list
    .slice(0, OPEN_MAX)
    .map(([, object]) => [
      [objectLink(object), sitePlace(object)],
      standingOf(object).text,
    ]);
  const more = [
    list.length > OPEN_MAX ? `${countText(list.length - OPEN_MAX)} more` : '',
    resting ? `${countText(resting)} that rest, as idle mutexes do` : '',
  ].filter(Boolean);
  const parts = [];
  if (rows.length) parts.push(tableOf('open', ['Still pending', 'For'], rows));
  if (more.length)
    parts.push(
      make('p', {id: 'resting', textContent: `and ${more.join(', ')}`}),
    );
  return parts;
}

function showObject(panel) {
  const object = view.chosen;
  if (!object) {
    panel.append(
      make('p', 'Nothing is chosen: click an object, or use the arrow keys.'),
      ...openPart(),
    );
    return;
  }
  if (isSystem(object)) {
    showSystem(panel, object);
    return;
  }
  panel.append(
    make('h2', objectName(object)),
    listOfFacts(factsOf(object)),
    make('h3', 'Its life'),
    ...splitTable(splitOf(object)),
    ...waitPart(object),
    ...pathPart(),
    ...stepPart(object),
    make('h3', 'Events'),
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
  const cells = rows
    .slice(0, 60)
    .map(([time, i, other, sign]) => [
      [`${arrowWords(ARROWS[arrows.type[i]])} ${sign} `, objectLink(other)],
      timeText(time),
    ]);
  if (rows.length > 60)
    cells.push([`and ${countText(rows.length - 60)} more`, '']);
  return tableOf('events', [], cells);
}
