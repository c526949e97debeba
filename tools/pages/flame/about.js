// SPDX-License-Identifier: Apache-2.0
// What is said about it: the tooltip, what is chosen, where one is, the legend,
// and what one should know before believing a share.

const FEW_SAMPLES = 1000; // fewer are worth a warning
const LEGEND_ROWS = 5;
const PATH_SHOWN = 4; // steps of the path, the innermost ones

function placeText(tree, node) {
  const f = tree.func[node],
    {folders, language} = data.functions;
  const where = data.strings[tree.line[node]];
  if (f < 0) return '';
  return [
    where && (folders[f] ? folders[f] + '/' : '') + where,
    data.head.languages[language[f]],
  ]
    .filter(Boolean)
    .join(', ');
}

function changeText(total, base) {
  const change = changeOf(total, base);
  const range = `${pointsText(change.low)} to ${pointsText(change.high)}`;
  return (
    `${pointsText(change.by)} points (${range}), ` +
    (change.sure ? 'sure' : 'may be chance')
  );
}

// Lines [what, text] about a node.
function factsOf({part, node}) {
  const {tree} = part,
    total = tree.total[node];
  const [low, high] = interval(Math.min(1, shareOf(total)), weights.count);
  const parent = tree.parent[node];
  const facts = [
    ['Total', `${shareText(shareOf(total))}, ${weightText(total)}`],
    ['95 %', `${shareText(low)} to ${shareText(high)}`],
  ];
  // among the callers of a sandwich what is below is what was called
  if (!part.skip)
    facts.splice(1, 0, [
      'Self',
      `${shareText(shareOf(tree.self[node]))}, ` + weightText(tree.self[node]),
    ]);
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
  if (placeText(tree, node)) facts.push(['Source', placeText(tree, node)]);
  return facts;
}

function putTip(event, ...children) {
  const tip = $('tip');
  tip.replaceChildren(...children);
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - width - 8);
  const y =
    event.clientY + 18 + height > innerHeight
      ? event.clientY - height - 12
      : event.clientY + 18;
  tip.style.left = Math.max(4, x) + 'px';
  tip.style.top = Math.max(4, y) + 'px';
}

function listOf(facts) {
  return make(
    'dl',
    {},
    ...facts.flatMap(([what, text]) => [
      make('dt', {textContent: what}),
      make('dd', {textContent: text}),
    ]),
  );
}

function showTip(spot, event) {
  if (!spot) {
    $('tip').hidden = true;
    return;
  }
  putTip(
    event,
    make('b', {textContent: shortName(nameOf(spot.part.tree, spot.node))}),
    listOf(factsOf(spot)),
  );
}

const shortName = (name) =>
  name.length > 400 ? name.slice(0, 400) + '\u2026' : name;

function showTimeTip(clock, event) {
  const hz = data.head.clock_hz,
    near = ((line.to - line.from) / lineWidth()) * 2;
  const facts = [['Time', secondsText(clock / hz, 0.001)]];
  for (const [kind, text] of LOSS_TEXTS.entries()) {
    let sum = 0;
    for (const loss of data.losses)
      if (
        loss.kind === kind &&
        loss.from <= clock + near &&
        loss.to >= clock - near
      )
        sum += loss.count;
    if (sum) facts.push(['Missing', `${countText(sum)} ${text}`]);
  }
  putTip(event, listOf(facts));
}

// The line at the bottom, and what a screen reader says.
function tellChosen() {
  const spot = focused,
    box = $('chosen');
  $('actions').hidden = !spot;
  if (!spot) {
    box.replaceChildren(
      view.func < 0
        ? 'Nothing chosen: click a frame, or walk with the arrow keys'
        : shortName(data.functions.names[view.func]) + ' is not in sight here',
    );
    return;
  }
  const name = shortName(nameOf(spot.part.tree, spot.node));
  const facts = factsOf(spot).filter(([what]) =>
    ['Total', 'Self', 'In hypervisor', 'Change', 'Source'].includes(what),
  );
  const text = facts
    .map(([what, value]) => `${what} ${value}`)
    .join('  \u00b7  ');
  box.replaceChildren(make('b', {textContent: name}), '  ' + text);
  $('spoken').textContent = name + ': ' + text;
  $('remove').disabled = view.sandwich >= 0 || spot.node === 0;
}

function stepButton(text, go) {
  const button = make('button', {
    type: 'button',
    textContent: text,
    title: text,
  });
  button.addEventListener('click', go);
  return button;
}

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
      make('i', {textContent: '\u203a callers and callees of'}),
      make('b', {
        textContent: '\u00a0' + shortName(data.functions.names[view.sandwich]),
      }),
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
        make('i', {
          textContent:
            i === 0 && hidden > 0 ? '\u203a \u2026 \u203a' : '\u203a',
        }),
      );
    });
    const here = shortName(nameOf(tree, view.zoom));
    add(make('b', {textContent: '\u00a0' + here}));
  }
  $('path').replaceChildren(...steps);
}

function legendItem(colour, text, kind) {
  const patch = make('i', {className: kind || ''});
  if (colour) patch.style.background = colour;
  return make('li', {}, patch, text);
}

function changeLegend() {
  const fills = [
    [255, 1],
    [255, 0.5],
    [GREY, 1],
    [25, 0.5],
    [25, 1],
  ].map(([hue, strength]) =>
    fillOf(
      hue,
      hue === GREY ? 0.4 : 0.5 - strength,
      strength * (hue === GREY ? 1 : 1.3),
    ),
  );
  return [
    legendItem(
      `linear-gradient(90deg, ${fills.join()})`,
      'less \u2013 may be chance \u2013 more',
      'wide',
    ),
    make('li', {textContent: 'width: mean of before and after'}),
  ];
}

function exitsLegend() {
  const fills = [0.05, 0.5, 1].map((part) =>
    fillOf(35, 0.6 - part, 0.25 + 0.75 * part),
  );
  return [
    legendItem(fillOf(GREY, 0.4, 1), 'in the guest'),
    legendItem(
      `linear-gradient(90deg, ${fills.join()})`,
      'partly \u2013 all in the hypervisor',
      'wide',
    ),
  ];
}

function categoryLegend() {
  const used = categories.list
    .slice(0, -1)
    .filter(({name}) => name !== 'unknown');
  const items = used
    .slice(0, LEGEND_ROWS)
    .map(({hue, name}) => legendItem(fillOf(hue, 0, 1), name));
  if (used.length > LEGEND_ROWS)
    items.push(
      make('li', {
        textContent: `and ${used.length - LEGEND_ROWS} more`,
        title: used
          .slice(LEGEND_ROWS)
          .map(({name}) => name)
          .join('\n'),
      }),
    );
  items.push(legendItem(fillOf(GREY, 0, 1), 'not a function, or unknown'));
  return items;
}

function showLegend() {
  const items =
    view.colour === 'change'
      ? changeLegend()
      : view.colour === 'exits'
        ? exitsLegend()
        : categoryLegend();
  if (search.found) items.unshift(legendItem(palette.found, 'found'));
  if (data.losses.length)
    items.push(legendItem('', 'something missing', 'hatch'));
  $('legend').replaceChildren(...items);
}

function showFacts() {
  const {head} = data,
    hz = head.clock_hz;
  const [from, to] = view.range || [0, head.clocks],
    seconds = (to - from) / hz;
  $('title').textContent = document.title = shortName(data.title);
  $('facts').textContent = [
    samplesText(weights.count),
    secondsText(seconds),
    Math.round(head.hz) + ' Hz',
    head.arch,
  ].join(' \u00b7 ');
}

// Too few samples, and whatever was lost.
function showNotes() {
  const notes = [],
    sums = [0, 0, 0, 0];
  if (weights.count < FEW_SAMPLES) {
    const [low, high] = interval(0.5, weights.count);
    notes.push(
      `Only ${samplesText(weights.count)}: shares are good to ` +
        `\u00b1${(50 * (high - low)).toFixed(1)} points`,
    );
  }
  for (const loss of data.losses) sums[loss.kind] += loss.count;
  sums.forEach((sum, kind) => {
    if (sum) notes.push(`${countText(sum)} ${LOSS_TEXTS[kind]}`);
  });
  if (view.removed.length) notes.push(`${view.removed.length} removed`);
  $('notes').replaceChildren(
    ...notes.map((text) => make('span', {textContent: text, title: text})),
  );
}
