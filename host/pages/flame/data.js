// SPDX-License-Identifier: Apache-2.0
// What the payload holds, read once into typed arrays that stay as they are.

function lossesOf(columns) {
  const from = columns.changes('loss.from');
  const [kind, length, count] = ['kind', 'length', 'count'].map((name) =>
    columns.plain('loss.' + name),
  );
  const several = columns.head.cpus.length > 1;
  const cpu = several ? columns.plain('loss.cpu') : [];
  return Array.from(from, (begin, i) => ({
    cpu: cpu[i],
    kind: kind[i],
    from: begin,
    to: begin + length[i],
    count: count[i],
  }));
}

async function loadData() {
  const columns = await readPayload();
  const strings = stringsOf(columns),
    head = columns.head;
  await pause();
  const data = {
    head,
    strings,
    title: strings[head.title],
    functions: functionsOf(columns, strings),
    tree: treeOf(columns),
    stackNode: Uint32Array.from(columns.changes('stack.node')),
    stackExits: Uint8Array.from(columns.plain('stack.exits')),
    losses: lossesOf(columns),
  };
  await pause();
  data.samples = await samplesOf(columns);
  data.samples.cpu =
    head.cpus.length > 1
      ? Uint16Array.from(columns.plain('sample.cpu'))
      : new Uint16Array(data.samples.stack.length); // of one: number 0 will do
  data.ticks = joinedTicks(columns);
  if (head.diff) {
    data.baseSamples = columns.plain('base.samples');
    data.baseClocks = columns.plain('base.clocks');
  }
  if (head.both) data.outside = outsideOf(columns);
  return data;
}
