// SPDX-License-Identifier: Apache-2.0
// The payload of a page, in #payload: JSON and columns of varints, gzipped, in
// base64 (host/page/page.h).

async function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const piece = 1 << 20,
    bytes = new Uint8Array(((text.length * 3) / 4) | 0);
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
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function varints(bytes, count) {
  const numbers = new Float64Array(count);
  for (let i = 0, at = 0; i < count; ++i) {
    let byte = bytes[at++],
      number = byte & 127,
      unit = 128;
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
  for (const [name, count, size] of head.columns || []) {
    places.set(name, [bytes.subarray(at, at + size), count]);
    at += size;
  }
  const raw = (name) => places.get(name)[0];
  const plain = (name) => varints(...places.get(name));
  return {head, raw, plain, changes: (name) => signed(plain(name), true)};
}

// Its JSON (head) and its columns; it is removed from the page.
async function readPayload() {
  const element = document.getElementById('payload');
  const text = element.textContent.trim();
  element.textContent = '';
  return columnsOf(await unpacked(await bytesOf(text)));
}

// Its texts: the columns string.bytes, their lengths, and text.
function stringsOf(columns, lengths = 'string.bytes', texts = 'text') {
  const text = columns.raw(texts),
    utf8 = new TextDecoder();
  let at = 0;
  return Array.from(columns.plain(lengths), (size) => {
    at += size;
    return utf8.decode(text.subarray(at - size, at));
  });
}
