// SPDX-License-Identifier: Apache-2.0
// One tree as boxes, and boxes on a canvas. Boxes are made when weights, zoom
// or size change; scrolling and pointing only paint the visible ones.

const ROW = 21; // pixels, with the gap
const NARROW = 0.5; // pixels; what is narrower is drawn as dust
const TEXT_FROM = 26; // pixels; narrower boxes have no text
const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const DUST = -1; // instead of a node

// A part of the picture: a tree from (root) on, rows away from (y0), upwards or
// downwards. Callers of the root have the whole width.
function newPart(tree, root, up) {
  return {tree, root, up, y0: 0, rows: [], skip: 0};
}

function putBox(part, row, x, w, node) {
  part.rows[row] ||= {x: [], w: [], node: []};
  const boxes = part.rows[row];
  const last = boxes.node.length - 1;
  // adjacent tiny boxes are merged into one
  if (
    node === DUST &&
    last >= 0 &&
    boxes.node[last] === DUST &&
    x - boxes.x[last] - boxes.w[last] < 0.01
  ) {
    boxes.w[last] += w;
    return;
  }
  boxes.x.push(x);
  boxes.w.push(w);
  boxes.node.push(node);
}

function putAncestors(part, width) {
  const {tree, root} = part;
  for (let i = tree.parent[root]; i >= 0; i = tree.parent[i])
    putBox(part, tree.depth[i], 0, width, i);
}

function layOut(part, width) {
  const {tree, root} = part,
    from = tree.depth[root];
  const unit = tree.width[root] > 0 ? width / tree.width[root] : 0;
  const next = [0];
  part.rows = [];
  putAncestors(part, width);
  for (let i = root; i < tree.end[root]; ) {
    const level = tree.depth[i] - from;
    const x = next[level],
      w = tree.width[i] * unit;
    next[level] = x + w;
    if (w < NARROW) {
      if (w > 0) putBox(part, tree.depth[i], x, w, DUST);
      i = tree.end[i];
      continue;
    }
    next[level + 1] = x;
    putBox(part, tree.depth[i], x, w, i);
    ++i;
  }
}

const yOfRow = (part, row) =>
  part.up ? part.y0 - (row + 1) * ROW : part.y0 + row * ROW;

const rowAt = (part, y) =>
  part.up
    ? Math.ceil((part.y0 - y) / ROW) - 1
    : Math.floor((y - part.y0) / ROW);

// The box of (row) at (x), -1 = none.
function boxAt(part, row, x) {
  const boxes = part.rows[row];
  if (!boxes || row < part.skip) return -1;
  const i = firstAtLeast(boxes.x, x + 1e-6) - 1;
  return i >= 0 && x < boxes.x[i] + boxes.w[i] ? i : -1;
}

// How wide a function's name is; a very long one by its beginning.
const nameWidths = [];
function nameWidth(context, f, name) {
  nameWidths[f] ??=
    name.length > 400
      ? (context.measureText(name.slice(0, 400)).width * name.length) / 400
      : context.measureText(name).width;
  return nameWidths[f];
}

function nameOf(tree, node) {
  return tree.func[node] < 0 ? 'all' : data.functions.names[tree.func[node]];
}

function paintName(context, tree, node, x, y, w) {
  const name = nameOf(tree, node),
    room = w - 9;
  const wide =
    tree.func[node] < 0 ? 20 : nameWidth(context, tree.func[node], name);
  let text = name;
  if (wide > room) {
    const chars = Math.floor((name.length * (room - 9)) / wide);
    if (chars < 2) return;
    text = name.slice(0, chars) + '\u2026';
  }
  context.fillText(text, x + 5, y + ROW / 2);
}

function paintShape(context, x, y, w) {
  const gap = w > 3 ? 1 : w > 1.5 ? 0.4 : 0;
  context.beginPath();
  if (w > 9) context.roundRect(x, y, w - gap, ROW - 1, 3);
  else context.rect(x, y, Math.max(0.6, w - gap), ROW - 1);
}

// (marks) says what is found, chosen and pointed at.
function paintBox(context, part, boxes, i, y, marks) {
  const node = boxes.node[i],
    x = boxes.x[i],
    w = boxes.w[i];
  const {tree} = part,
    f = node === DUST ? -1 : tree.func[node];
  const found = marks.found && f >= 0 && marks.found[f];
  const isOutside = node !== DUST && tree.depth[node] < tree.depth[part.root];
  paintShape(context, x, y, w);
  context.fillStyle =
    node === DUST ? palette.line : found ? palette.found : colourOf(tree, node);
  context.globalAlpha = (marks.found && !found) || isOutside ? 0.45 : 1;
  context.fill();
  if (node !== DUST && w >= TEXT_FROM) {
    context.globalAlpha = Math.max(context.globalAlpha, 0.85);
    context.fillStyle = found ? palette.panel : palette.ink;
    paintName(context, tree, node, x, y, w);
  }
  context.globalAlpha = 1;
  if (f >= 0 && (f === marks.func || f === marks.over))
    paintEdge(context, f === marks.func ? 2 : 1.2);
}

function paintEdge(context, thick) {
  context.lineWidth = thick;
  context.strokeStyle = palette.ink;
  context.stroke();
}

// Rows of a part between (top) and (bottom), in the picture's own pixels.
function paintPart(context, part, top, bottom, marks) {
  for (let row = part.skip; row < part.rows.length; ++row) {
    const y = yOfRow(part, row),
      boxes = part.rows[row];
    if (!boxes || y + ROW < top || y > bottom) continue;
    for (let i = 0; i < boxes.x.length; ++i)
      paintBox(context, part, boxes, i, y, marks);
  }
}
