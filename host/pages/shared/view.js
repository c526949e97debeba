// SPDX-License-Identifier: Apache-2.0
// What the pages of the flame graph and of the timeline have in common:
// canvases, their colours, the tooltip over them, and the search.

// Before all else: without a canvas there is nothing to draw on.
function needCanvas() {
  if (!make('canvas').getContext('2d'))
    throw new Error('This browser does not let the page use a canvas');
}

// A canvas of (width) x (height) CSS pixels; its context, scaled.
function sized(canvas, width, height, scale = devicePixelRatio || 1) {
  const wide = Math.round(width * scale),
    high = Math.round(height * scale);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.height = height + 'px';
    canvas.style.width = width + 'px';
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  return context;
}

// The colour of a variable of the style sheet. It has both themes' colours in
// it; an element that uses it has the right one.
function colourOfTheme(variable) {
  const probe = $('spoken');
  probe.style.color = `var(${variable})`;
  const {color} = getComputedStyle(probe);
  probe.style.color = '';
  return color;
}

// A pattern of slanted lines, for what is not known.
function hatch(context, colour) {
  const tile = make('canvas', {width: 6, height: 6});
  const pen = tile.getContext('2d');
  pen.strokeStyle = colour;
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const at of [-3, 3, 9]) {
    pen.moveTo(at - 4, 10 - 4 + 0.5);
    pen.lineTo(at + 4, -2 + 0.5);
  }
  pen.stroke();
  return context.createPattern(tile, 'repeat');
}

// Shows the tooltip with (children) where (event) is.
function putTip({clientX, clientY}, ...children) {
  const tip = $('tip');
  tip.replaceChildren(...children);
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  const x = Math.min(clientX + 14, innerWidth - width - 8);
  const y =
    clientY + 18 + height > innerHeight ? clientY - height - 12 : clientY + 18;
  tip.style.left = Math.max(4, x) + 'px';
  tip.style.top = Math.max(4, y) + 'px';
}

const hideTip = () => {
  $('tip').hidden = true;
};

// Boxes of a legend, or lines, in a colour.
function legendItem(background, words, className = '') {
  const patch = make('i', {className});
  patch.style.background = background;
  return make('li', {}, patch, words);
}

// The wheel: with Shift, or sideways, it moves by a part of what is in sight;
// else it zooms.
function listenToWheel(canvas, pan, zoom) {
  const turn = (event) => {
    const {deltaX, deltaY, shiftKey} = event;
    event.preventDefault();
    if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY))
      pan((deltaX || deltaY) / 600);
    else zoom(Math.exp(deltaY / 400), event);
  };
  canvas.addEventListener('wheel', turn, {passive: false});
}

const APART_LEAST = 16; // pixels between two fingers that are counted

// Two fingers: (begin) is called with their middle, {x, y} of the window, when
// the second one comes, and (move) with {x, y, dx, dy, times} as they move:
// where the middle was, how far it went, and how much closer they came. Until
// both are gone, the other listeners of (canvas) that are added later hear
// nothing of them.
function listenToPinch(canvas, begin, move) {
  const fingers = new Map();
  let last = null, // the middle, and how far apart
    isPinch = false;
  const measure = () => {
    const [a, b] = [...fingers.values()],
      apart = Math.hypot(a.x - b.x, a.y - b.y);
    return {
      x: (a.x + b.x) / 2,
      y: (a.y + b.y) / 2,
      apart: Math.max(APART_LEAST, apart),
    };
  };
  const place = ({clientX: x, clientY: y, pointerId}) =>
    fingers.set(pointerId, {x, y});
  const gone = (event) => {
    if (isPinch) event.stopImmediatePropagation();
    fingers.delete(event.pointerId);
    last = null;
    if (fingers.size === 0) isPinch = false;
  };
  listen(canvas, {
    pointerdown: (event) => {
      if (event.pointerType !== 'touch') return;
      place(event);
      if (fingers.size > 1) {
        event.stopImmediatePropagation();
        last = fingers.size === 2 ? measure() : null;
        if (!isPinch) begin(last);
        isPinch = true;
      }
    },
    pointermove: (event) => {
      if (!fingers.has(event.pointerId)) return;
      place(event);
      if (!isPinch) return;
      event.stopImmediatePropagation();
      if (!last) return;
      const {x, y, apart} = last;
      last = measure();
      move({x, y, dx: last.x - x, dy: last.y - y, times: apart / last.apart});
    },
    pointerup: gone,
    pointercancel: gone,
  });
  // else the browser takes them, where it may scroll
  const keep = (event) => {
    if (event.touches.length > 1 && event.cancelable) event.preventDefault();
  };
  for (const kind of ['touchstart', 'touchmove'])
    canvas.addEventListener(kind, keep, {passive: false});
}

// Listens to the search: (input), and the buttons beside it. What was searched
// for is left for (canvas).
function listenToSearch(input, canvas) {
  const keydown = (event) => {
    if (event.key === 'Enter') nextMatch(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') {
      clearSearch();
      canvas.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  listen(input, {keydown, input: later(() => startSearch(input.value), 80)});
  listen($('search'), {submit: (event) => event.preventDefault()});
  listenToClicks({
    next: () => nextMatch(1),
    previous: () => nextMatch(-1),
  });
}
