// SPDX-License-Identifier: Apache-2.0
// Elements, and numbers as people read them.

const $ = (id) => document.getElementById(id);

// An element with properties or a text; text is never parsed as HTML, whatever
// a function is called.
function make(tag, properties, ...children) {
  if (typeof properties !== 'object') properties = {textContent: properties};
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// What is done on each kind of event at (element), which is returned.
function listen(element, actions) {
  for (const [kind, act] of Object.entries(actions))
    element.addEventListener(kind, act);
  return element;
}

const button = (textContent, click, properties) =>
  listen(make('button', {type: 'button', textContent, ...properties}), {click});

// Terms and what is said of them, [term, ...what] each, for a list.
const factPairs = (facts) =>
  facts.flatMap(([term, ...what]) => [
    make('dt', term),
    make('dd', {}, ...what.filter(Boolean)),
  ]);
const listOfFacts = (facts) => make('dl', {}, ...factPairs(facts));

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

// Round numbers of [from, to] that are (rough) apart or more, and their step:
// 1, 2 or 5 times a power of ten.
function ticksOf(from, to, rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    power * [1, 2, 5, 10].find((times) => times * power >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to; ++i)
    ticks.push(i * step);
  return {ticks, step};
}

// Instead of the page: (error).
function showFailure(error) {
  $('title').textContent = 'This page cannot be displayed';
  $('facts').textContent = String(error.stack || error);
  showStatic();
}

// Instead of what does not work: what is seen without scripts, if the page has
// a picture for that. Where scripts are on, it is a text and not yet elements.
function showStatic() {
  const text = document.querySelector('noscript')?.textContent ?? '',
    other = new DOMParser().parseFromString(text, 'text/html'),
    picture = other.querySelector('img.static');
  if (!picture) return;
  document.body.classList.add('failed');
  document.body.append(make('p', picture.previousElementSibling.textContent));
  document.body.append(document.adoptNode(picture));
}
