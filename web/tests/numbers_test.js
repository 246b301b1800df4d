// Numbers and axes of the pages, without a browser: node numbers_test.js
//
// What is shown of a certified number is never inside of it, whatever its size.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const code = ["numbers.js", "chart.js"].map((name) => fs.readFileSync(path.join(__dirname, "..", name), "utf8"));
const names = "({short, bound, atMost, atLeast, logarithm, makeScale, asSteps})";
const web = vm.runInNewContext(`${code.join("\n")}\n${names}`, {Intl});
const list = (array) => Array.from(array);

// The exact value of a double, and of a text, as a whole number of 1e-1100.
const kScale = 1100n;
function exactly(text) {
  const [, sign, digits, fraction = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text);
  const size = BigInt(digits + fraction) * 10n ** (kScale + BigInt(power) - BigInt(fraction.length));
  return sign ? -size : size;
}
function ofDouble(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(number));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & ((1n << 52n) - 1n)) | (exponent > 0 ? 1n << 52n : 0n);
  const power = Math.max(exponent, 1) - 1075;
  const scaled = mantissa * 10n ** kScale;
  const size = power >= 0 ? scaled << BigInt(power) : scaled >> BigInt(-power); // exact: 10^1100 has 2^1100
  return number < 0 ? -size : size;
}
const shownValue = (text) => exactly(text.replace(/−/g, "-"));

const sizes = [1e-300, 3e-9, 0.1, 0.5, 1, 7.3, 1234.5678915, 99999999.4999999, 1234567886.64, 4.2e9 + 0.3, 8.8e14 + 0.1];
const numbers = [...sizes, 1e15, 2 ** 60 + 4096, 1.2345678901234567e21, 1e300, 1.7976931348623157e308, 0];
let seed = 1;
for (let i = 0; i < 3000; ++i) {
  seed = (seed * 16807) % 2147483647;
  numbers.push((seed / 2147483647) * 10 ** ((i % 40) - 12));
}
for (const size of numbers) {
  for (const number of [size, -size]) {
    const lower = web.bound(number, -1),
      upper = web.bound(number, 1);
    if (lower !== "−∞") assert.ok(shownValue(lower) <= ofDouble(number), `${lower} is above ${number}`);
    if (upper !== "∞") assert.ok(shownValue(upper) >= ofDouble(number), `${upper} is below ${number}`);
    const width = Math.abs(number) < 1e15 ? 2.1e-6 + Math.abs(number) * 1e-15 : Math.abs(number) * 4e-14;
    if (Math.abs(number) < 1e300) {
      assert.ok(Number(lower.replace("−", "-")) >= number - width, `${lower} is far from ${number}`);
      assert.ok(Number(upper.replace("−", "-")) <= number + width, `${upper} is far from ${number}`);
    }
  }
  for (const digits of [1, 2, 3]) {
    const text = web.atMost(size, digits);
    if (text !== "∞") assert.ok(shownValue(text) >= ofDouble(size), `${text} is less than ${size}`);
  }
  const least = web.atLeast(size); // which may read as the same double
  assert.ok(shownValue(least) <= ofDouble(size * (1 + 2 ** -52)), `${least} is more than ${size}`);
  assert.ok(Number(least.replace("−", "-")) >= size * (1 - 2e-5), `${least} is far from ${size}`);
}
assert.equal(web.bound(-1234567886.64, -1), "−1234567886.640001");
assert.equal(web.bound(3, -1), "3.000000");
assert.equal(web.bound("-inf", -1), "−∞");
assert.equal(web.bound(null, 1), "–");
assert.equal(web.atMost(0.0012349), "0.00124");
assert.notEqual(web.atMost(5e-324), "0");
assert.equal(web.atLeast(0.12345678), "0.123456");
assert.equal(web.logarithm(-0), "0.000000");
assert.equal(web.logarithm(-1e-9), "0.000000");
assert.equal(web.logarithm(-2e9), "−2000000000.000000");

// A scale has two marks at least, also where the interval is awkward or tiny, and all of them are on it.
for (const [low, high] of [[3.9, 97.2], [1, 1], [0, 1e-12], [1e15, 1e15 + 0.25], [-1e300, 1e300], [4.99, 5.01]]) {
  for (const isLog of low > 0 ? [false, true] : [false]) {
    for (const length of [60, 176, 300, 900]) {
      const scale = web.makeScale([low, high], isLog, 0, length);
      const ticks = list(scale.ticks);
      assert.ok(ticks.length >= 2 && ticks.length <= 60, `${ticks.length} ticks from ${low} to ${high}`);
      for (const tick of ticks) assert.ok(scale.at(tick) >= -1 && scale.at(tick) <= length + 1, `${tick} is outside`);
    }
  }
}

// A bound holds until the next one.
const steps = list(web.asSteps([{x: 0, y: 9}, {x: 2, y: 5}, {x: 3, y: 4}])).map((p) => [p.x, p.y]);
assert.deepEqual(steps, [[0, 9], [2, 9], [2, 5], [3, 5], [3, 4]]);
console.log("numbers: all checks passed");
