// SPDX-License-Identifier: Apache-2.0
// Pictures of SVG.

// An element of a picture.
function shape(tag, attributes, ...children) {
  const NS = 'http://www.w3.org/2000/svg';
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  element.append(...children);
  return element;
}
