// SPDX-License-Identifier: Apache-2.0
// Export: folded stacks, a picture, a name.

const PNG_PIXELS_MAX = 16000; // of one side; browsers make no larger canvas

function save(blob, suffix) {
  download(blob, fileName() + suffix);
  $('export').open = false;
}

const fileName = () =>
  (data.title.split('/').filter(Boolean).pop() || 'profile')
    .replace(/[^\w.-]/g, '_')
    .slice(0, 80);

// A semicolon would end a frame, a line end a stack.
const foldedName = (name) => name.replace(/;/g, ':').replace(/\s*\n\s*/g, ' ');

// Stacks of the shown range, without those removed: "a;b;c WEIGHT" each;
// samples, or nanoseconds.
function* foldedStacks() {
  const {func, parent} = data.tree;
  const names = data.functions.names.map(foldedName);
  const unit = countsTime() ? 1e9 / data.head.clock_hz : 1;
  const sums = new Map(),
    parts = [];
  stackWeight.forEach((weight, s) => {
    const node = data.stackNode[s];
    if (weight) sums.set(node, (sums.get(node) || 0) + weight);
  });
  yield;
  for (const [node, weight] of sums) {
    const frames = [];
    for (let i = node; i > 0; i = parent[i]) frames.push(names[func[i]]);
    parts.push(
      frames.reverse().join(';') + ' ' + Math.round(weight * unit) + '\n',
    );
    if (parts.length % 128 === 0) yield;
  }
  return new Blob(parts, {type: 'text/plain'});
}

function saveFolded() {
  inSlices(foldedStacks(), (blob) => save(blob, '.folded'));
}

// The whole picture, not only the visible part; a very high one is scaled down.
function savePng() {
  const canvas = make('canvas'),
    head = 34,
    high = scene.height;
  const scale = Math.min(
    devicePixelRatio || 1,
    PNG_PIXELS_MAX / Math.max(high + head, scene.width),
  );
  const context = sized(canvas, scene.width, high + head, scale);
  context.fillStyle = palette.panel;
  context.fillRect(0, 0, scene.width, high + head);
  context.fillStyle = palette.ink;
  context.font = 'bold ' + FONT;
  context.fillText(
    `${shortName(data.title)}: ${$('facts').textContent}`,
    10,
    head / 2,
  );
  context.font = FONT;
  context.translate(PADDING, head);
  const marks = {found: search.found, func: view.func, over: -1};
  for (const part of scene.parts) paintPart(context, part, 0, high, marks);
  canvas.toBlob((blob) => save(blob, '.png'));
}

async function copyName() {
  const f = focused ? focused.part.tree.func[focused.node] : view.func;
  if (f < 0) return;
  const name = data.functions.names[f];
  try {
    await navigator.clipboard.writeText(name);
  } catch (refused) {
    // pages from disk may not have the clipboard; a selection they have
    const area = make('textarea', {value: name});
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  $('spoken').textContent = 'copied';
  const button = $('copy');
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1200);
}
