// SPDX-License-Identifier: Apache-2.0
// A font in which each character is a box, and spaces are none, all of one
// width: with it a page has the same layout on every machine, and a text is a
// bar. It is made here, as TrueType (ISO/IEC 14496-22, "OpenType").
'use strict';

const EM = 1000,
  WIDTH = 520, // of each character
  UP = 930, // of a line
  DOWN = 240;
const BOX = [40, 0, 480, 680]; // left, bottom, right, top
const NONE = 1, // numbers of glyphs; that of unknown characters is a box, too
  BOXED = 2;

// Bytes of numbers, big-endian: u16(1, 2), u32(3), i64(4).
const words =
  (size) =>
  (...numbers) =>
    Buffer.concat(
      numbers.map((number) => {
        const bytes = Buffer.alloc(size);
        if (size === 8) bytes.writeBigInt64BE(BigInt(number));
        else
          bytes.writeUIntBE(
            number < 0 ? number + 256 ** size : number,
            0,
            size,
          );
        return bytes;
      }),
    );
const u8 = words(1),
  u16 = words(2),
  u32 = words(4),
  i64 = words(8);

function boxGlyph() {
  const [left, bottom, right, top] = BOX;
  return Buffer.concat([
    u16(1, left, bottom, right, top), // one contour
    u16(3, 0), // its last point; no instructions
    u8(1, 1, 1, 1), // on the curve
    u16(left, 0, right - left, 0), // steps of x, of y
    u16(bottom, top - bottom, 0, bottom - top),
  ]);
}

// Many characters to one glyph: format 13.
function characters() {
  const groups = [
    [0x20, 0x20, NONE],
    [0x21, 0x9f, BOXED],
    [0xa0, 0xa0, NONE],
    [0xa1, 0x1fff, BOXED],
    [0x2000, 0x200f, NONE],
    [0x2010, 0x10ffff, BOXED],
  ];
  return Buffer.concat([
    u16(0, 1, 3, 10),
    u32(12),
    u16(13, 0),
    u32(16 + 12 * groups.length, 0, groups.length),
    ...groups.map((group) => u32(...group)),
  ]);
}

// (family) in all that a font must say of itself.
function namesOf(family) {
  const text = Buffer.from(family, 'utf16le').swap16();
  const records = [1, 2, 4, 6].map((id) =>
    u16(3, 1, 0x409, id, text.length, 0),
  );
  return Buffer.concat([
    u16(0, records.length, 6 + 12 * records.length),
    ...records,
    text,
  ]);
}

function tablesOf(family) {
  const glyph = boxGlyph();
  const [left, bottom, right, top] = BOX;
  return {
    'OS/2': Buffer.concat([
      u16(4, WIDTH, 400, 5, 0),
      u16(650, 600, 0, 75, 650, 600, 0, 350, 50, 300), // sub- and superscripts
      u16(0),
      Buffer.alloc(10),
      u32(1, 0, 0, 0),
      Buffer.from('NONE'),
      u16(0x40, 0x20, 0xffff, UP, -DOWN, 0, UP, DOWN),
      u32(1, 0),
      u16(500, top, 0, 0x20, 1),
    ]),
    cmap: characters(),
    glyf: Buffer.concat([glyph, glyph]),
    head: Buffer.concat([
      u32(0x10000, 0x10000, 0, 0x5f0f3cf5),
      u16(3, EM),
      i64(0, 0),
      u16(left, bottom, right, top, 0, 8, 2, 1, 0),
    ]),
    hhea: Buffer.concat([
      u32(0x10000),
      u16(UP, -DOWN, 0, WIDTH, 0, 0, right, 1, 0, 0, 0, 0, 0, 0, 0, 3),
    ]),
    hmtx: u16(WIDTH, left, WIDTH, 0, WIDTH, left),
    loca: u32(0, glyph.length, glyph.length, 2 * glyph.length),
    maxp: Buffer.concat([
      u32(0x10000),
      u16(3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    ]),
    name: namesOf(family),
    post: Buffer.concat([u32(0x30000, 0), u16(-75, 50), u32(1, 0, 0, 0, 0)]),
  };
}

function sumOf(bytes) {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4)
    sum = (sum + bytes.readUInt32BE(at)) >>> 0;
  return sum;
}

// The bytes of the font file.
function boxFont(family) {
  const tables = Object.entries(tablesOf(family)),
    count = tables.length,
    power = 31 - Math.clz32(count);
  let at = 12 + 16 * count;
  const heads = [
      u32(0x10000),
      u16(count, 16 << power, power, 16 * count - (16 << power)),
    ],
    bodies = [];
  for (const [tag, bytes] of tables) {
    const body = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
    heads.push(Buffer.from(tag), u32(sumOf(body), at, bytes.length));
    bodies.push(body);
    at += body.length;
  }
  return Buffer.concat([...heads, ...bodies]);
}

module.exports = {boxFont};
