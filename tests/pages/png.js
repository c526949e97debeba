// SPDX-License-Identifier: Apache-2.0
// PNG as browsers write it: 8 bits a colour, with or without alpha, in one
// pass. To look at pixels here costs a fraction of what it costs in a page.
'use strict';

const {deflateSync, inflateSync} = require('node:zlib');

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const BYTES_OF = {2: 3, 6: 4}; // of a pixel, by the type of colour

function* chunksOf(png) {
  for (let at = SIGNATURE.length; at < png.length; ) {
    const size = png.readUInt32BE(at);
    yield [
      png.toString('latin1', at + 4, at + 8),
      png.subarray(at + 8, at + 8 + size),
    ];
    at += 12 + size;
  }
}

function nearest(a, b, c) {
  const p = a + b - c,
    [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

// Undoes the filter of one line (of) in place; (above) is the line before it.
function unfilter(filter, of, above, bytes) {
  const {length} = of;
  switch (filter) {
    case 0:
      return;
    case 1:
      for (let i = bytes; i < length; ++i) of[i] += of[i - bytes];
      return;
    case 2:
      for (let i = 0; i < length; ++i) of[i] += above[i];
      return;
    case 3:
      for (let i = 0; i < length; ++i)
        of[i] += ((i < bytes ? 0 : of[i - bytes]) + above[i]) >> 1;
      return;
    case 4:
      for (let i = 0; i < length; ++i)
        of[i] +=
          i < bytes
            ? above[i]
            : nearest(of[i - bytes], above[i], above[i - bytes]);
      return;
    default:
      throw new Error(`filter ${filter}`);
  }
}

// {width, height, bytes, lines}: of a pixel, and the bytes of each line.
function decoded(png) {
  if (!png.subarray(0, SIGNATURE.length).equals(SIGNATURE))
    throw new Error('not a PNG');
  const parts = [];
  let head;
  for (const [type, data] of chunksOf(png))
    if (type === 'IHDR') head = data;
    else if (type === 'IDAT') parts.push(data);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)],
    bytes = BYTES_OF[head[9]];
  if (head[8] !== 8 || !bytes || head[12])
    throw new Error(`depth ${head[8]}, colours ${head[9]}, passes ${head[12]}`);
  const all = inflateSync(Buffer.concat(parts)),
    lines = [];
  let above = new Uint8Array(width * bytes);
  for (let y = 0; y < height; ++y) {
    const at = y * (1 + above.length),
      line = all.subarray(at + 1, at + 1 + above.length);
    unfilter(all[at], line, above, bytes);
    lines.push(line);
    above = line;
  }
  return {width, height, bytes, lines};
}

// The check sum of a chunk. zlib has it only in newer versions of Node.
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit)
      crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]),
    whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), 4 + body.length);
  return whole;
}

// The PNG of (lines), Uint8Arrays of red, green and blue of each pixel.
function encoded(lines) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(lines[0].length / 3, 0);
  head.writeUInt32BE(lines.length, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const all = Buffer.concat(lines.flatMap((line) => [Buffer.alloc(1), line]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(all, {level: 9})),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

module.exports = {decoded, encoded};
