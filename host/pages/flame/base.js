// SPDX-License-Identifier: Apache-2.0
// Differences of shares, and how sure they are.

const pointsText = (part) =>
  (part < 0 ? '\u2212' : '+') + Math.abs(100 * part).toFixed(2);

// The interval of the difference of two parts: Newcombe 1998, method 10.
function differenceInterval(part, count, base, baseCount, z) {
  const [low, high] = interval(part, count, z);
  const [baseLow, baseHigh] = interval(base, baseCount, z);
  const difference = part - base;
  return [
    difference - Math.hypot(part - low, baseHigh - base),
    difference + Math.hypot(high - part, base - baseLow),
  ];
}
