// SPDX-License-Identifier: Apache-2.0
// Elements, and numbers as people read them.

const $ = (id) => document.getElementById(id);

// An element; text is never parsed as HTML, whatever a function is called.
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const countText = (number) => Math.round(number).toLocaleString('en-US');

let counted = 'sample'; // what samplesText() counts

const samplesText = (number) =>
  countText(number) + ' ' + counted + (number === 1 ? '' : 's');

function shareText(part) {
  const percent = 100 * part;
  if (percent === 0) return '0 %';
  if (percent < 0.01) return '<0.01 %';
  return percent.toFixed(percent < 10 ? 2 : 1) + ' %';
}

// With as many digits as (step), the distance of two of them, asks for, and in
// the unit that suits (size).
function secondsText(seconds, step = seconds / 100, size = seconds) {
  const [unit, name] =
    size >= 1 ? [1, 's'] : size >= 0.001 ? [1e3, 'ms'] : [1e6, '\u00b5s'];
  const digits = step > 0 ? Math.ceil(-Math.log10(step * unit) - 1e-9) : 0;
  return (
    (seconds * unit).toFixed(Math.max(0, Math.min(6, digits))) + ' ' + name
  );
}

// Instead of the page: (error).
function showFailure(error) {
  $('title').textContent = 'This page cannot be displayed';
  $('facts').textContent = String(error.stack || error);
}
