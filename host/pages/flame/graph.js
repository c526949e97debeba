// SPDX-License-Identifier: Apache-2.0
// The flame graph: its parts, and the actions on it.

const PADDING = 6; // pixels around the picture

const scene = {parts: [], width: 0, height: 0, stop: null};
let focused = null; // {part, node} that keys and buttons are about
let picked = 0; // node that was last clicked, or selected by a key
let pointed = -1; // function under the mouse, in graph or table

// The tree, or callers above a function and callees below it.
function placeParts() {
  const [first, second] = scene.parts;
  const room = $('scroll').clientHeight - 2 * PADDING;
  if (second) {
    first.skip = 1; // the function itself stands in the other part
    first.y0 = PADDING + first.rows.length * ROW;
    second.y0 = first.y0 - ROW;
    scene.height = second.y0 + second.rows.length * ROW + PADDING;
  } else {
    const rows = first.rows.length * ROW;
    scene.height = rows + 2 * PADDING;
    first.y0 = first.up ? PADDING + Math.max(rows, room) : PADDING;
  }
  scene.height = Math.max(scene.height, room + 2 * PADDING);
}

function arrange() {
  if (!scene.parts.length) return;
  scene.width = $('scroll').clientWidth;
  for (const part of scene.parts)
    layOut(part, Math.max(10, scene.width - 2 * PADDING));
  placeParts();
  $('space').style.height =
    Math.max(0, scene.height - $('scroll').clientHeight) + 'px';
  showPath();
  repaint();
}

function rebuild(done) {
  if (scene.stop) scene.stop();
  if (view.sandwich < 0) {
    scene.parts = [newPart(data.tree, view.zoom, !view.icicle)];
    finishScene(done);
    return;
  }
  $('busy').hidden = false;
  scene.stop = inSlices(sandwichOf(view.sandwich), ({callers, callees}) => {
    $('busy').hidden = true;
    scene.parts = [newPart(callers, 0, true), newPart(callees, 0, false)];
    finishScene(done);
  });
}

function finishScene(done) {
  focused = null;
  arrange();
  if (done) done();
  if (focused === null && view.func >= 0) focusFunction(view.func);
  tellChosen();
}

// The widest box of a function that can be seen.
function focusFunction(f) {
  let best = 0;
  for (const part of scene.parts)
    for (let row = part.skip; row < part.rows.length; ++row)
      part.rows[row]?.node.forEach((node, i) => {
        if (node === DUST || part.tree.func[node] !== f) return;
        if (part.rows[row].w[i] <= best) return;
        best = part.rows[row].w[i];
        focused = {part, node};
      });
  return best > 0;
}

function paintScene() {
  const box = $('scroll'),
    top = box.scrollTop;
  const context = sized($('graph'), box.clientWidth, box.clientHeight);
  context.translate(PADDING, -top);
  const marks = {found: search.found, func: view.func, over: pointed};
  for (const part of scene.parts)
    paintPart(context, part, top, top + box.clientHeight, marks);
  if (focused) paintFocus(context);
}

const repaint = perFrame(paintScene);

function boxOf(spot) {
  const row = spot.part.tree.depth[spot.node],
    boxes = spot.part.rows[row];
  const i = boxes ? boxes.node.indexOf(spot.node) : -1;
  return i < 0
    ? null
    : {x: boxes.x[i], w: boxes.w[i], y: yOfRow(spot.part, row)};
}

function paintFocus(context) {
  const box = boxOf(focused);
  if (!box) return;
  context.beginPath();
  context.roundRect(box.x - 0.5, box.y - 0.5, Math.max(2, box.w), ROW, 4);
  context.lineWidth = 2.5;
  context.strokeStyle = palette.accent;
  context.stroke();
}

// What is at a position of the window: {part, node}, or null.
function spotAt(event) {
  const frame = $('graph').getBoundingClientRect();
  const x = event.clientX - frame.left - PADDING;
  const y = event.clientY - frame.top + $('scroll').scrollTop;
  for (const part of scene.parts) {
    const row = rowAt(part, y),
      i = row < 0 ? -1 : boxAt(part, row, x);
    if (i >= 0 && part.rows[row].node[i] !== DUST)
      return {part, node: part.rows[row].node[i]};
  }
  return null;
}

function scrollTo(spot) {
  const box = boxOf(spot),
    frame = $('scroll');
  if (!box) return;
  if (box.y < frame.scrollTop) frame.scrollTop = box.y - ROW;
  else if (box.y + 2 * ROW > frame.scrollTop + frame.clientHeight)
    frame.scrollTop = box.y + 2 * ROW - frame.clientHeight;
}

function choose(spot) {
  focused = spot;
  if (view.sandwich < 0) picked = spot.node;
  const f = spot.part.tree.func[spot.node];
  if (f >= 0) chooseFunction(f, false);
  scrollTo(spot);
  tellChosen();
  repaint();
}

function zoomTo(node) {
  view.zoom = node;
  view.sandwich = -1;
  changed('scene', () => {
    const spot = {part: scene.parts[0], node};
    focused = spot;
    if (scene.parts[0].up) $('scroll').scrollTop = scene.height;
    else $('scroll').scrollTop = 0;
    scrollTo(spot);
  });
}

// Zooms to the selection; in a sandwich to the sandwich of its function.
function open(spot) {
  if (!spot) return;
  const f = spot.part.tree.func[spot.node];
  choose(spot);
  if (view.sandwich < 0) zoomTo(spot.node);
  else if (f >= 0) showSandwich(f);
}

const STEP = 1.5; // how much wider boxes are after a step

// Zooms by a step towards (node), to its outermost caller that is narrow enough
// for that, or to itself.
function stepInto(node) {
  const {parent, end, width} = data.tree,
    {zoom} = view;
  if (view.sandwich >= 0 || node <= zoom || node >= end[zoom]) return;
  while (parent[node] !== zoom && width[parent[node]] * STEP <= width[zoom])
    node = parent[node];
  zoomTo(node);
}

// Zooms out to the nearest caller that is so much wider.
function stepOut() {
  const {parent, width} = data.tree;
  if (view.sandwich >= 0 || view.zoom === 0) return;
  let node = parent[view.zoom];
  while (node > 0 && width[node] < STEP * width[view.zoom]) node = parent[node];
  zoomTo(node);
}

// Towards what was last clicked; if that is reached, to the widest callees.
function stepByButton() {
  const {tree} = scene.parts[0];
  if (picked > view.zoom && picked < tree.end[view.zoom]) {
    stepInto(picked);
    return;
  }
  let spot = {part: scene.parts[0], node: view.zoom};
  for (let next = spot; next; next = inwards(next)) {
    spot = next;
    if (tree.width[spot.node] * STEP <= tree.width[view.zoom]) break;
  }
  stepInto(spot.node);
}

// Two fingers: each time they have moved apart by STEP, a step towards the
// frame that was between them; together, a step out. Moved, they scroll.
function listenToPinches() {
  let node = 0,
    apart = 1,
    rest = 0; // less than the pixel that a box scrolls by
  listenToPinch(
    $('graph'),
    ({x, y}) => {
      const spot = spotAt({clientX: x, clientY: y});
      node = spot?.part.tree === data.tree ? spot.node : 0;
      apart = 1;
      rest = 0;
      hideTip();
    },
    ({dy, times}) => {
      rest -= dy;
      $('scroll').scrollTop += Math.trunc(rest);
      rest %= 1;
      apart /= times;
      if (apart > 1 / STEP && apart < STEP) return;
      if (apart < 1) stepOut();
      else stepInto(node);
      apart = 1;
    },
  );
}

function showSandwich(f) {
  if (f < 0) return;
  view.sandwich = f;
  chooseFunction(f, true);
  changed('scene', () => {
    focused = {part: scene.parts[1], node: 0};
    $('scroll').scrollTop = Math.max(
      0,
      scene.parts[1].y0 - $('scroll').clientHeight / 2,
    );
  });
}

function outwards() {
  if (view.sandwich >= 0) {
    view.sandwich = -1;
    changed('scene');
  } else if (view.zoom > 0) {
    zoomTo(data.tree.parent[view.zoom]);
  }
}

function removeChosen() {
  if (!focused || view.sandwich >= 0 || focused.node === 0) return;
  const {node} = focused,
    {tree} = focused.part;
  view.removed.push(node);
  if (view.zoom >= node && view.zoom < tree.end[node])
    view.zoom = tree.parent[node];
  focused = null;
  changed('weights');
}

// The next spot in a direction: 'in' to callees, 'out' to callers, or beside.
function walk(direction) {
  if (!focused) {
    const part = scene.parts[scene.parts.length - 1];
    choose({part, node: part.root});
    return;
  }
  const steps = {in: inwards, out: above, left: beside, right: beside};
  const next = steps[direction](focused, direction === 'left' ? -1 : 1);
  if (next) choose(next);
}

function inwards({part, node}) {
  const {tree} = part;
  let best = -1;
  for (let i = node + 1; i < tree.end[node]; i = tree.end[i])
    if (tree.width[i] > 0 && (best < 0 || tree.width[i] > tree.width[best]))
      best = i;
  return best < 0 || !boxOf({part, node: best}) ? null : {part, node: best};
}

function above({part, node}) {
  const parent = part.tree.parent[node];
  if (parent >= 0 && !(part.skip && parent === 0)) return {part, node: parent};
  const other = scene.parts.find((one) => one !== part);
  if (!other) return null;
  // through the middle of a sandwich to its other half
  return node === 0 ? inwards({part: other, node: 0}) : {part: other, node: 0};
}

function beside({part, node}, step) {
  const boxes = part.rows[part.tree.depth[node]];
  if (!boxes) return null;
  for (
    let i = boxes.node.indexOf(node) + step;
    i >= 0 && i < boxes.node.length;
    i += step
  )
    if (boxes.node[i] !== DUST) return {part, node: boxes.node[i]};
  return null;
}

function listenToGraph() {
  listenToPinches();
  const pointTo = (spot, event) => {
    point(spot ? spot.part.tree.func[spot.node] : -1);
    showTip(spot, event);
  };
  listen($('graph'), {
    pointermove: (event) => {
      if (event.pointerType !== 'touch') pointTo(spotAt(event), event);
    },
    pointerleave: () => pointTo(null),
    click: (event) => {
      const spot = spotAt(event);
      if (!spot) return;
      const again = focused?.part === spot.part && focused.node === spot.node;
      // a finger cannot point first: its first touch does
      if (event.pointerType === 'touch' && !again) choose(spot);
      else open(spot);
      hideTip();
    },
    contextmenu: (event) => {
      const spot = spotAt(event);
      if (!spot) return;
      event.preventDefault();
      choose(spot);
    },
  });
  listen($('scroll'), {
    scroll: () => {
      hideTip();
      repaint();
    },
  });
}

function point(f) {
  if (f === pointed) return;
  pointed = f;
  repaint();
}
