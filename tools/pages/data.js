// SPDX-License-Identifier: Apache-2.0
// The payload: columns of varints, gzipped, in base64 (columns.h). It is read
// once into typed arrays, which stay as they are.
//
// The tree is in drawing order: what is below node i are the nodes i + 1 up to
// end[i], exclusive. Node 0 is all of it and has no function (-1).

async function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const piece = 1 << 20, bytes = new Uint8Array(text.length * 3 / 4 | 0);
  let used = 0;
  for (let at = 0; at < text.length; at += piece) {
    const part = atob(text.slice(at, at + piece));
    for (let i = 0; i < part.length; ++i) bytes[used++] = part.charCodeAt(i);
    await pause();
  }
  return bytes.subarray(0, used);
}

const pause = () => new Promise((go) => setTimeout(go));

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function varints(bytes, count) {
  const numbers = new Float64Array(count);
  for (let i = 0, at = 0; i < count; ++i) {
    let byte = bytes[at++], number = byte & 127, unit = 128;
    while (byte > 127) {
      byte = bytes[at++];
      number += (byte & 127) * unit;
      unit *= 128;
    }
    numbers[i] = number;
  }
  return numbers;
}

// In place: signs out of the lowest bit; and sums, if they are changes.
function signed(numbers, areChanges) {
  let sum = 0;
  for (let i = 0; i < numbers.length; ++i) {
    const number = numbers[i];
    const value = number % 2 ? -(number + 1) / 2 : number / 2;
    sum = areChanges ? sum + value : value;
    numbers[i] = sum;
  }
  return numbers;
}

function columnsOf(bytes) {
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const utf8 = new TextDecoder();
  const head = JSON.parse(utf8.decode(bytes.subarray(4, 4 + length)));
  const places = new Map();
  let at = 4 + length;
  for (const [name, count, size] of head.columns) {
    places.set(name, [bytes.subarray(at, at + size), count]);
    at += size;
  }
  const raw = (name) => places.get(name)[0];
  const plain = (name) => varints(...places.get(name));
  return {head, raw, plain, changes: (name) => signed(plain(name), true)};
}

function stringsOf(columns) {
  const text = columns.raw('text'), utf8 = new TextDecoder();
  let at = 0;
  return Array.from(columns.plain('string.bytes'), (size) => {
    at += size;
    return utf8.decode(text.subarray(at - size, at));
  });
}

function treeOf(columns) {
  const depth = Uint16Array.from(columns.changes('node.depth'));
  const count = depth.length, open = [];
  const tree = {
    count, depth,
    func: Int32Array.from(columns.plain('node.function'), (f) => f - 1),
    line: Uint32Array.from(columns.plain('node.line')),
    parent: new Int32Array(count), end: new Uint32Array(count),
  };
  for (let i = 0; i < count; ++i) {
    while (open.length > depth[i]) tree.end[open.pop()] = i;
    tree.parent[i] = open.length ? open[open.length - 1] : -1;
    open.push(i);
  }
  while (open.length) tree.end[open.pop()] = count;
  return tree;
}

function samplesOf(columns) {
  const time = columns.changes('sample.time');
  const clocks = signed(columns.plain('sample.extra'), false);
  for (let i = 0; i < time.length; ++i)
    clocks[i] += time[i] - (i > 0 ? time[i - 1] : 0);
  return {
    time, clocks,
    stack: Uint32Array.from(columns.plain('sample.stack')),
    samples: Uint32Array.from(columns.plain('sample.samples')),
  };
}

const LOSS_TEXTS = ['ticks missed', 'samples without a stack',
  'packets missing', 'samples discarded'];

function lossesOf(columns) {
  const from = columns.changes('loss.from');
  const [kind, length, count] = ['kind', 'length', 'count']
    .map((name) => columns.plain('loss.' + name));
  return Array.from(from, (begin, i) => ({
    kind: kind[i], from: begin, to: begin + length[i], count: count[i],
  }));
}

function functionsOf(columns, strings) {
  const names = Array.from(columns.changes('function.name'),
    (i) => strings[i]);
  return {
    count: names.length, names,
    folders: Array.from(columns.plain('function.folder'), (i) => strings[i]),
    language: Uint8Array.from(columns.plain('function.language')),
  };
}

async function loadData() {
  const text = $('payload').textContent.trim();
  const columns = columnsOf(await unpacked(await bytesOf(text)));
  $('payload').textContent = '';
  const strings = stringsOf(columns), head = columns.head;
  await pause();
  const data = {
    head, strings, title: strings[head.title],
    functions: functionsOf(columns, strings), tree: treeOf(columns),
    stackNode: Uint32Array.from(columns.changes('stack.node')),
    stackExits: Uint8Array.from(columns.plain('stack.exits')),
    losses: lossesOf(columns),
  };
  await pause();
  data.samples = samplesOf(columns);
  if (head.diff) {
    data.baseSamples = columns.plain('base.samples');
    data.baseClocks = columns.plain('base.clocks');
  }
  return data;
}
