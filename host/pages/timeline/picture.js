// SPDX-License-Identifier: Apache-2.0
// The canvas: the picture is made in slices on a second one, and until it is
// done the one before is shown where it would be now, so that no frame waits.

const shown = {
  canvas: null, // the finished picture
  from: 0, // what it shows
  to: 1,
  stop: null, // ends the making of the next
  isLate: false, // the next is out of date already
  drag: null,
  clicked: null, // the time of the last click, if nothing was chosen since
};

const FONT = '11.5px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';

function arrange() {
  const box = $('picture');
  port.width = Math.max(50, box.clientWidth);
  port.height = Math.max(80, box.clientHeight);
}

// Makes the picture anew. One that is being made is finished first and then
// made again, so that something is seen while the view changes all the time.
function renewPicture() {
  if (placing) return; // it follows
  if (shown.stop) {
    shown.isLate = true;
    showPicture();
    return;
  }
  const canvas = make('canvas'),
    pen = sized(canvas, port.width, port.height);
  const {from, to, focus} = view;
  Object.assign(port, {from, to, focus});
  document.body.dataset.painting = '';
  let isDone = false;
  const stop = inSlices(paintPicture(pen, projection(focus)), () => {
    isDone = true;
    Object.assign(shown, {canvas, from, to, stop: null});
    showPicture();
    document.body.dataset.painted = String(++paintedCount);
    if (shown.isLate) renewSoon();
    else delete document.body.dataset.painting;
    shown.isLate = false;
  });
  if (isDone) return;
  shown.stop = stop;
  showPicture();
}

// Before what is drawn changes.
function stopPicture() {
  if (shown.stop) shown.stop();
  shown.stop = null;
}
let paintedCount = 0;

const renewSoon = perFrame(renewPicture);

// Copies the finished picture to the screen, moved and stretched to the times
// that are in sight now, with what follows the pointer on top.
function showPicture() {
  const {width, height} = port,
    pen = sized($('canvas'), width, height);
  pen.fillStyle = palette.ground;
  pen.fillRect(0, 0, width, height);
  if (shown.canvas) {
    const [from, to] = [shown.from, shown.to].map(xOf);
    pen.drawImage(shown.canvas, from, 0, to - from, height);
  }
  paintRange(pen);
  if (view.path) paintPath(pen);
}

function paintRange(pen) {
  if (!view.range) return;
  const [x0, x1] = view.range.map(xOf);
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.14;
  pen.fillRect(x0, 0, x1 - x0, port.height);
  pen.globalAlpha = 1;
  pen.fillRect(x0 - 1, 0, 2, port.height);
  pen.fillRect(x1 - 1, 0, 2, port.height);
}

function paintPath(pen) {
  const yOf = projection(view.focus);
  pen.strokeStyle = palette.found;
  pen.lineWidth = 3;
  pen.beginPath();
  for (const step of currentPath()) {
    const row = rowOfObject(step.object);
    if (row < 0) continue;
    const y = yOf(row);
    pen.lineTo(xOf(step.end), y);
    pen.lineTo(xOf(step.begin), y);
  }
  pen.stroke();
}

const repaintSoon = perFrame(showPicture);

// The object at a place of the screen, 0 = none within some pixels of it.
function objectAt(x, y) {
  const yOf = projection(view.focus);
  if (items.count === 0) return 0;
  const row = rowOfY(y, yOf),
    band = items.bandAt[row];
  if (band >= 0) {
    const group = items.group[band];
    return lifeAt(groups[group].band, x, y) || -1 - group;
  }
  if (Math.abs(yOf(row) - y) > 16) return 0;
  const slack = timeOf(x + 8) - timeOf(x),
    time = timeOf(x);
  let best = 0,
    nearest = slack;
  for (
    let at = firstInRow(row, time - slack);
    at < items.rowFrom[row + 1];
    ++at
  ) {
    const i = items.byRow[at];
    if (items.begin[i] > time + slack) break;
    const away = Math.max(items.begin[i] - time, time - items.end[i], 0);
    if (away > nearest) continue;
    nearest = away;
    best = items.group[i] >= 0 ? -1 - items.group[i] : items.object[i];
  }
  return best;
}

function pointAt(event) {
  const box = $('canvas').getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function startDrag(event) {
  const [x, y] = pointAt(event),
    yOf = projection(view.focus);
  $('canvas').setPointerCapture(event.pointerId);
  shown.drag = {
    x,
    y,
    from: view.from,
    to: view.to,
    row: items.count ? rowOfY(y, yOf) : 0,
    selects: event.shiftKey,
    moved: false,
  };
}

function drag(event) {
  const [x, y] = pointAt(event),
    {drag: held} = shown;
  if (Math.hypot(x - held.x, y - held.y) > 3) held.moved = true;
  if (!held.moved) return;
  if (held.selects) {
    const ends = [timeOf(held.x), timeOf(x)].sort((a, b) => a - b);
    view.range = ends[1] > ends[0] ? ends : null;
    repaintSoon();
    return;
  }
  const by = ((held.x - x) / port.width) * (held.to - held.from);
  setTimes(held.from + by, held.to + by);
  if (!rowsFit()) view.focus = focusFor(held.row, y);
  changed('view');
}

function endDrag(event) {
  const {drag: held} = shown;
  shown.drag = null;
  if (!held) return;
  if (held.moved) {
    if (held.selects) changed('range');
    return;
  }
  const [x, y] = pointAt(event),
    time = timeOf(x);
  choose(objectAt(x, y));
  shown.clicked = time;
}

// Two fingers keep the time and the row that were between them.
function listenToFingers() {
  const yIn = (y) => y - $('canvas').getBoundingClientRect().top;
  let row = 0;
  listenToPinch(
    $('canvas'),
    ({y}) => {
      shown.drag = null;
      hideTip();
      row = items.count ? rowOfY(yIn(y), projection(view.focus)) : 0;
    },
    ({x, y, dx, dy, times}) => {
      const by = (-dx / port.width) * (view.to - view.from);
      zoomTo(times, x - $('canvas').getBoundingClientRect().left);
      setTimes(view.from + times * by, view.to + times * by);
      if (!rowsFit()) view.focus = focusFor(row, yIn(y + dy));
      changed('view');
    },
  );
}

function listenToPicture() {
  listenToFingers();
  listen($('canvas'), {
    pointerdown: startDrag,
    pointermove: (event) => {
      if (shown.drag) drag(event);
      else showTip(objectAt(...pointAt(event)), event);
    },
    pointerup: endDrag,
    pointercancel: () => {
      shown.drag = null;
    },
    pointerleave: hideTip,
  });
  listenToWheel($('canvas'), pan, (times, event) => {
    zoomTo(times, pointAt(event)[0]);
    changed('view');
  });
}
