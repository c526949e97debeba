// SPDX-License-Identifier: Apache-2.0
// Whether every text, control and picture of a page is seen whole: none sticks
// out of the window or of what clips it, no two texts overlap, and none is
// behind something else. Boxes of elements are compared, so fonts may differ.
// What a canvas shows is not known here.
'use strict';

const path = require('node:path');
const {assert, work} = require('./browser.js');

const SIZES = [
  {width: 1280, height: 720},
  {width: 1920, height: 1080},
];
const SCHEMES = ['light', 'dark'];

// Runs in the page: what is wrong, as sentences.
function wrongIn({ellipsis, ignore, above}) {
  const NEAR = 1; // px that a box may stick out, for widths are rounded
  const OVER_X = 1, // px that two texts may share: glyphs are smaller than
    OVER_Y = 2; // their boxes
  const CONTROLS = 'button, input, select, textarea, summary';
  const PICTURES = 'canvas, svg, img, video';
  const root = document.documentElement;
  const wrong = new Set();

  const styleOf = (element) => getComputedStyle(element);
  const isSeen = (element) =>
    element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) &&
    !(ignore && element.closest(ignore));

  function nameOf(box) {
    const {owner, text} = box;
    const id = owner.closest('[id]')?.id;
    const what = owner.localName + (id ? ` in #${id}` : '');
    return text ? `"${text.slice(0, 40)}" (${what})` : what;
  }

  // ---- boxes: owner, what (text, control, picture), text, and the sides

  const boxOf = (owner, what, text, {left, top, right, bottom}) => ({
    owner,
    what,
    text,
    left,
    top,
    right,
    bottom,
  });

  function textBoxes() {
    const boxes = [];
    const walker = document.createTreeWalker(
      document.body,
      NodeFilter.SHOW_TEXT,
    );
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const owner = node.parentElement,
        text = node.textContent.trim().replace(/\s+/g, ' ');
      if (!text || owner.closest('script, style, noscript, option, title'))
        continue;
      if (!isSeen(owner)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const frame of range.getClientRects())
        if (frame.width > 0 && frame.height > 0)
          boxes.push(boxOf(owner, 'text', text, frame));
    }
    return boxes;
  }

  // Bullets are no nodes: the space on the left of an item that has one.
  function bulletBoxes() {
    return [...document.querySelectorAll('li, summary')]
      .filter((item) => {
        const style = styleOf(item);
        return (
          style.display === 'list-item' &&
          style.listStyleType !== 'none' &&
          style.listStylePosition === 'outside' &&
          isSeen(item)
        );
      })
      .map((item) => {
        const {left, top} = item.getBoundingClientRect();
        const size = parseFloat(styleOf(item).fontSize);
        return boxOf(item, 'text', 'bullet of ' + item.textContent, {
          left: left - 1.1 * size,
          right: left - 0.4 * size,
          top: top + 0.2 * size,
          bottom: top + 1.2 * size,
        });
      });
  }

  const elementBoxes = (selector, what) =>
    [...document.querySelectorAll(selector)]
      .filter((owner) => isSeen(owner) && !owner.ownerSVGElement)
      .map((owner) => boxOf(owner, what, '', owner.getBoundingClientRect()))
      .filter((box) => box.right > box.left && box.bottom > box.top);

  // ---- what clips a box

  // The ancestors that can clip it: those out of whose flow it is cannot.
  function* clippersOf(owner, isText) {
    let position = 'static',
      element = owner;
    if (!isText) {
      position = styleOf(owner).position;
      element = owner.parentElement;
    }
    for (; element && element !== document.body && element !== root; ) {
      const style = styleOf(element);
      if (position === 'fixed') return;
      if (position !== 'absolute' || style.position !== 'static') {
        yield [element, style];
        position = style.position;
      }
      element = element.parentElement;
    }
  }

  const isFixed = (owner) => {
    for (let one = owner; one && one !== root; one = one.parentElement)
      if (styleOf(one).position === 'fixed') return true;
    return false;
  };

  function innerOf(element) {
    const frame = element.getBoundingClientRect();
    if (element instanceof SVGElement) return frame;
    const left = frame.left + element.clientLeft,
      top = frame.top + element.clientTop;
    return {
      left,
      top,
      right: left + element.clientWidth,
      bottom: top + element.clientHeight,
    };
  }

  const axes = [
    ['overflowX', 'left', 'right'],
    ['overflowY', 'top', 'bottom'],
  ];

  // Makes the box what is seen of it, and notes what cannot be scrolled to;
  // false: nothing is seen.
  function clip(box) {
    for (const [element, style] of clippersOf(box.owner, box.what === 'text')) {
      if (style.display === 'inline') continue;
      const frame = innerOf(element);
      for (const [overflow, low, high] of axes) {
        if (style[overflow] === 'visible') continue;
        const sticksOut =
          box[low] < frame[low] - NEAR || box[high] > frame[high] + NEAR;
        const isShort =
          ellipsis &&
          style.textOverflow === 'ellipsis' &&
          element.closest(ellipsis);
        if (sticksOut && /hidden|clip/.test(style[overflow]) && !isShort)
          wrong.add(`${nameOf(box)} is cropped`);
        box[low] = Math.max(box[low], frame[low]);
        box[high] = Math.min(box[high], frame[high]);
      }
      if (box.left >= box.right || box.top >= box.bottom) return false;
    }
    return true;
  }

  // The root's overflow, or the body's, is that of the window.
  function reachOf(owner) {
    const style = styleOf(root);
    const {overflowY} =
      style.overflowY === 'visible' ? styleOf(document.body) : style;
    if (isFixed(owner) || /hidden|clip/.test(overflowY))
      return {top: 0, bottom: innerHeight};
    return {top: -scrollY, bottom: root.scrollHeight - scrollY};
  }

  function staysInWindow(box) {
    const {top, bottom} = reachOf(box.owner);
    if (
      box.left < -NEAR ||
      box.right > innerWidth + NEAR ||
      box.top < top - NEAR ||
      box.bottom > bottom + NEAR
    )
      wrong.add(`${nameOf(box)} sticks out of the window`);
  }

  // What a field shows, or its placeholder, by its own font.
  function fieldsFit() {
    const pen = document.createElement('canvas').getContext('2d');
    for (const field of document.querySelectorAll('input')) {
      const style = styleOf(field);
      if (!isSeen(field) || !/^(text|search)$/.test(field.type)) continue;
      pen.font = style.font;
      const room =
        field.clientWidth -
        parseFloat(style.paddingLeft) -
        parseFloat(style.paddingRight);
      const text = field.value || field.placeholder;
      if (pen.measureText(text).width > room + NEAR)
        wrong.add(`${nameOf(boxOf(field, '', text, {}))} is cropped`);
    }
  }

  // ---- what lies on what

  const isOf = (one, other) => one.contains(other) || other.contains(one);

  function overlap(one, other) {
    if (one.owner === other.owner) return false;
    // the text of a button is in it
    if (one.what !== other.what && isOf(one.owner, other.owner)) return false;
    const x = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const y = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    return x > OVER_X && y > OVER_Y;
  }

  function noneOverlap(boxes) {
    boxes.sort((a, b) => a.top - b.top);
    boxes.forEach((one, i) => {
      const layer = one.owner.closest(above);
      for (let j = i + 1; j < boxes.length; ++j) {
        const other = boxes[j];
        if (other.top >= one.bottom) break;
        if (other.owner.closest(above) === layer && overlap(one, other))
          wrong.add(`${nameOf(one)} and ${nameOf(other)} overlap`);
      }
    });
  }

  const alphaOf = (colour) => {
    const [, alpha] =
      colour.match(/^rgba\(.*, ([\d.]+)\)$/) ||
      colour.match(/\/ ([\d.]+)\)$/) ||
      [];
    return alpha === undefined ? Number(colour !== 'none') : Number(alpha);
  };

  const isOpaque = (element) => {
    const style = styleOf(element);
    if (element.matches('canvas, img, video')) return true;
    return element instanceof SVGElement && element.localName !== 'svg'
      ? alphaOf(style.fill) * style.fillOpacity * style.opacity > 0.9
      : alphaOf(style.backgroundColor) * style.opacity > 0.9;
  };

  // Texts have nothing opaque in front of their middle.
  function noneIsBehind(boxes) {
    for (const box of boxes) {
      const {owner} = box;
      if (styleOf(owner).pointerEvents === 'none' || /^bullet/.test(box.text))
        continue;
      const front = document.elementFromPoint(
        (box.left + box.right) / 2,
        (box.top + box.bottom) / 2,
      );
      if (!front || isOf(front, owner)) continue;
      if (front.closest(above) !== owner.closest(above)) continue;
      for (let one = front; one && !one.contains(owner); )
        if (isOpaque(one)) {
          wrong.add(`${nameOf(box)} is behind ${front.localName}`);
          break;
        } else {
          one = one.parentElement;
        }
    }
  }

  const texts = [...textBoxes(), ...bulletBoxes()].filter(clip),
    controls = elementBoxes(CONTROLS, 'control').filter(clip),
    pictures = elementBoxes(PICTURES, 'picture').filter(clip);
  [...texts, ...controls, ...pictures].forEach(staysInWindow);
  if (root.scrollWidth > innerWidth) wrong.add('it can be scrolled sideways');
  fieldsFit();
  noneOverlap([...texts, ...controls]);
  noneIsBehind(texts);
  return [...wrong];
}

// What is wrong with the page as it is now, as sentences. Options:
// (ellipsis) selects elements that may end in an ellipsis, (ignore) those that
// are not looked at, and (above) those that may hide what is below them.
const wrongWith = (page, options = {}) =>
  page.evaluate(wrongIn, {
    ellipsis: '',
    ignore: '',
    above: '[role=status], [role=tooltip], dialog, [popover]',
    ...options,
  });

const LOOKS = SIZES.flatMap((size) => SCHEMES.map((theme) => [size, theme]));

// A theme changes colours and no layout: each at one size; FULL=1: at both.
const DIAGONAL = [LOOKS.at(0), LOOKS.at(-1)];
const FULL = process.env.FULL === '1';
const SEEN = FULL ? LOOKS : DIAGONAL;

// Asserts that nothing is wrong in windows of SEEN sizes and themes, or of
// other (looks). (show) makes the page draw and waits for it. What is wrong is
// seen in FOLDER/(name)-WIDTH-THEME.png; FULL=1 makes all these pictures.
async function fitsEverywhere(page, name, show, options = {}) {
  const {looks = SEEN, ...more} = options,
    found = {};
  for (const [size, colorScheme] of looks) {
    await page.setViewportSize(size);
    await page.emulateMedia({colorScheme});
    await show();
    const file = `${name.replace(/\W+/g, '-')}-${size.width}-${colorScheme}`;
    const wrong = await wrongWith(page, more);
    if (wrong.length) found[file] = wrong;
    if (wrong.length || FULL)
      await page.screenshot({path: path.join(work, `${file}.png`)});
  }
  assert.deepStrictEqual(found, {});
}

module.exports = {DIAGONAL, LOOKS, SEEN, fitsEverywhere, wrongWith};
