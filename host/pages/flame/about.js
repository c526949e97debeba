// SPDX-License-Identifier: Apache-2.0
// What is shown about it: the tooltip, the selection, the path, the legend.

const LEGEND_ROWS = 5;
// Those of the tooltip that are also at the bottom.
const FACTS_CHOSEN = [
  ...['Total', 'Inside', 'Self', 'In hypervisor', 'Outside', 'Only outside'],
  ...['Change', 'Source'],
];
const PATH_SHOWN = 4; // steps of the path, the innermost ones

function placeText(tree, node) {
  const f = tree.func[node],
    {folders, language} = data.functions;
  const line = data.strings[tree.line[node]];
  if (f < 0) return '';
  const place = line && (folders[f] ? folders[f] + '/' : '') + line;
  return [place, data.head.languages[language[f]]].filter(Boolean).join(', ');
}

function changeText(total, base) {
  const change = changeOf(total, base);
  const range = `${pointsText(change.low)} to ${pointsText(change.high)}`;
  return (
    `${pointsText(change.by)} points (${range}), ` +
    (change.sure ? 'significant' : 'not significant')
  );
}

// Lines [what, text] about a node.
function factsOf({part, node}) {
  const {tree} = part,
    total = tree.total[node];
  const parent = tree.parent[node];
  const amount = (weight) =>
    `${shareText(shareOf(weight))}, ${weightText(weight)}`;
  const facts = [[isBoth() ? 'Inside' : 'Total', amount(total)]];
  // among the callers of a sandwich what is below is what was called
  if (!part.skip) facts.push(['Self', amount(tree.self[node])]);
  if (isUnsure()) {
    const ends = interval(Math.min(1, shareOf(total)), weights.count);
    facts.push(['95 % interval', ends.map(shareText).join(' to ')]);
  }
  if (parent >= 0 && tree.func[parent] >= 0 && tree.total[parent])
    facts.push([
      part.skip ? 'Of its callee' : 'Of its caller',
      shareText(total / tree.total[parent]),
    ]);
  if (tree.exits[node])
    facts.push([
      'In hypervisor',
      shareText(tree.exits[node] / total) + ' of it',
    ]);
  if (data.head.diff) {
    facts.push(['Before', shareText(baseShareOf(tree.base[node]))]);
    facts.push(['Change', changeText(total, tree.base[node])]);
  }
  if (isBoth()) facts.push(...sidesFacts(tree, node));
  if (placeText(tree, node)) facts.push(['Source', placeText(tree, node)]);
  return facts;
}

function showTip(spot, event) {
  if (!spot) return hideTip();
  const name = make('b', shortName(nameOf(spot.part.tree, spot.node)));
  putTip(event, name, listOfFacts(factsOf(spot)));
}

const shortName = (name) =>
  name.length > 400 ? name.slice(0, 400) + '\u2026' : name;

function showTimeTip(clock, event) {
  const hz = data.head.clock_hz,
    near = ((line.to - line.from) / lineWidth()) * 2;
  const facts = [['Time', secondsText(clock / hz, 0.001)]];
  const here = lossesShown().filter(
    ({from, to}) => from <= clock + near && to >= clock - near,
  );
  for (const [name, {words}] of Object.entries(LOSSES)) {
    const lost = here.filter(({kind}) => kind === FLAME_LOSS_KIND[name]);
    const sum = lost.reduce((before, {count}) => before + count, 0);
    if (sum) facts.push(['Lost', words(sum)]);
  }
  if (isBoth()) facts.push(...windowFacts(clock, near));
  putTip(event, listOfFacts(facts));
}

// The annotated code of a function, where `parasite open` serves it.
function linkCode(f) {
  const link = $('code');
  link.hidden = !data.head.served || f < 0 || isPseudo(f);
  if (!link.hidden)
    link.href =
      'annotate.html#' + new URLSearchParams({f: data.functions.names[f]});
}

// The line at the bottom, and what a screen reader says.
function tellChosen() {
  const spot = focused,
    box = $('chosen');
  $('actions').hidden = !spot;
  linkCode(spot ? spot.part.tree.func[spot.node] : -1);
  if (!spot) {
    box.replaceChildren(
      view.func < 0
        ? 'Nothing selected: click a frame or use the arrow keys'
        : shortName(data.functions.names[view.func]) + ' is not visible here',
    );
    return;
  }
  const name = shortName(nameOf(spot.part.tree, spot.node));
  const facts = factsOf(spot).filter(([what]) => FACTS_CHOSEN.includes(what));
  const text = facts
    .map(([what, value]) => `${what} ${value}`)
    .join('  \u00b7  ');
  box.replaceChildren(make('b', name), '  ' + text);
  $('spoken').textContent = name + ': ' + text;
  $('blame').hidden = !canBlame(view.func);
  $('remove').disabled = view.sandwich >= 0 || spot.node === 0;
}

const stepButton = (text, go) => button(text, go, {title: text});

// Where one is: the callers of the zoomed node, or the sandwich's function.
function showPath() {
  const steps = [],
    {tree} = scene.parts[0];
  const add = (...parts) => steps.push(...parts);
  if (view.sandwich >= 0) {
    add(
      stepButton('all', () => {
        view.sandwich = -1;
        changed('scene');
      }),
      make('i', '\u203a callers and callees of'),
      make('b', '\u00a0' + shortName(data.functions.names[view.sandwich])),
    );
  } else if (view.zoom > 0) {
    const nodes = [];
    for (let i = tree.parent[view.zoom]; i >= 0; i = tree.parent[i])
      nodes.unshift(i);
    const hidden = nodes.length - PATH_SHOWN;
    nodes.forEach((node, i) => {
      if (i > 0 && i <= hidden) return;
      add(
        stepButton(shortName(nameOf(tree, node)), () => zoomTo(node)),
        make('i', i === 0 && hidden > 0 ? '\u203a \u2026 \u203a' : '\u203a'),
      );
    });
    const here = shortName(nameOf(tree, view.zoom));
    add(make('b', '\u00a0' + here));
  }
  $('path').replaceChildren(...steps);
}

const gradientItem = (fills, words) =>
  legendItem(`linear-gradient(90deg, ${fills.join()})`, words, 'wide');

const changeLegend = () => [
  gradientItem(
    [changeFill(255, 1), changeFill(255, 0.5), noChange()].concat(
      changeFill(25, 0.5),
      changeFill(25, 1),
    ),
    'less \u2013 not significant \u2013 more',
  ),
  make('li', 'width: mean of before and after'),
];

const exitsLegend = () => [
  legendItem(exitsFill(0), 'in the guest'),
  gradientItem(
    [0.05, 0.5, 1].map(exitsFill),
    'partly \u2013 entirely in the hypervisor',
  ),
];

function categoryLegend() {
  const used = categories.list
    .slice(0, -1)
    .filter(({name}) => name !== 'unknown');
  // there are few parts, and each is worth a word
  const rest = used.splice(view.colour === 'part' ? Infinity : LEGEND_ROWS);
  const items = used.map(({hue, name}) => legendItem(fillOf(hue, 0, 1), name));
  if (rest.length) {
    const title = rest.map(({name}) => name).join('\n');
    items.push(make('li', {title, textContent: `and ${rest.length} more`}));
  }
  items.push(legendItem(fillOf(GREY, 0, 1), 'not a function, or unknown'));
  return items;
}

function showLegend() {
  const legends = {
    sides: sidesLegend,
    change: changeLegend,
    exits: exitsLegend,
  };
  const items = (legends[view.colour] || categoryLegend)();
  if (search.found) items.unshift(legendItem(palette.found, 'found'));
  if (!isBoth() && data.losses.some((loss) => !isStolen(loss)))
    items.push(legendItem('', 'samples missing', 'hatch'));
  if (!isBoth() && data.losses.some(isStolen))
    items.push(legendItem('', 'time stolen by the host', 'hatch stolen'));
  $('legend').replaceChildren(...items);
}

function showFacts() {
  const {head} = data,
    hz = head.clock_hz;
  const [from, to] = view.range || [0, head.clocks],
    facts = [
      samplesText(weights.count),
      secondsText((to - from) / hz),
      ...(head.waits ? [] : [Math.round(head.hz) + ' Hz']),
      head.arch,
    ];
  if (isCompared())
    facts.push(
      `${head.diff ? 'before' : 'outside'}: ` +
        `${samplesText(weights.baseCount)}, ` +
        secondsText(head.sides[1].clocks / hz),
    );
  $('title').textContent = document.title = shortName(data.title);
  $('title').title = data.title.slice(0, 500);
  $('facts').textContent = facts.join(' \u00b7 ');
}

// ---- warnings: what is missing from the profile, and whether samples are few.

const isStolen = ({kind}) => kind === FLAME_LOSS_KIND.stolen;

// Of a comparison both sides, as soon as one has lost something.
function lossNotes() {
  const sides = data.head.sides.map(lossesOfSide);
  if (sides.length === 1) return sides[0];
  if (!sides.some((notes) => notes.length)) return [];
  return (isBoth() ? ['Inside', 'Outside'] : ['After', 'Before']).map(
    (name, i) => [
      `${name}: ` +
        (sides[i].map(([text]) => text).join(', ') || 'nothing was lost'),
      sides[i].map(([text, reason]) => `${text}: ${reason}`).join('\n'),
    ],
  );
}

// Too few samples, and whatever was lost.
function showNotes() {
  const notes = [
    ...(isUnsure() ? fewSamples(weights.count) : []),
    ...(data.head.waits
      ? []
      : steadyNote({steady: data.head.sides.some(({steady}) => steady)})),
    ...(isBoth() ? clockNote() : []),
    ...sharesNote(),
    ...lossNotes(),
  ];
  if (view.removed.length)
    notes.push([
      plural(view.removed.length, 'stack removed', 'stacks removed'),
      'Restore brings them back',
    ]);
  putNotes(notes);
}
