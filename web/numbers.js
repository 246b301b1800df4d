// Numbers as people read them. In the data infinite ones are the texts "inf" and "-inf", unknown ones null.

function real(value) {
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return typeof value === "number" ? value : null;
}

// Six significant digits; powers of ten where it is very large or very small.
function short(value, digits = 6) {
  const number = real(value);
  if (number === null) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e9 || size < 1e-4) return signed(number.toExponential(Math.min(digits, 3) - 1).replace("e+", "e"));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return signed(number.toFixed(Math.min(decimals, 8)));
}

// Without zeros at its end: for numbers that people have written.
const plain = (value, digits = 4) => signed(String(Number(Number(value).toPrecision(digits))));

// With the sign that has the width of a digit.
const signed = (text) => text.replace(/^-/, "−").replace("e-", "e−");

const kManyDigits = 1e15; // beyond, powers of ten are easier to read than all digits

// Zero has no sign.
const fixed = (number, decimals) => signed(number.toFixed(decimals).replace(/^-(?=[0.]+$)/, ""));

function logarithm(value) {
  const number = real(value);
  return number !== null && Math.abs(number) < kManyDigits ? fixed(number, 6) : short(value);
}

// What is shown of a certified bound is outside of it: rounded down (direction -1) or up (1). Half a unit of the text,
// and two of the last bits, further out before it is rounded; as the program's decimal_bound (src/text.cpp).
function bound(value, direction, decimals = 6) {
  const number = real(value);
  if (number === null || !Number.isFinite(number)) return short(value);
  const size = Math.abs(number);
  if (size >= kManyDigits) {
    const digits = 14;
    const outside = number + direction * size * 10 ** -digits;
    return Number.isFinite(outside) ? signed(outside.toExponential(digits).replace("e+", "e")) : short(outside);
  }
  if (Number.isInteger(number)) return fixed(number, decimals);
  const outside = number + direction * 0.50001 * 10 ** -decimals;
  return fixed(outside + direction * Math.abs(outside) * 2 ** -52, decimals);
}

// A certified width, gap or divergence: never less than it is (the program's tolerance_text).
function atMost(value, digits = 3) {
  const number = real(value);
  if (number === null || !Number.isFinite(number) || number === 0) return short(value, digits);
  let shown = number;
  const step = Math.max(0.3 * Math.abs(number) * 10 ** -digits, Number.MIN_VALUE);
  while (Number(shown.toPrecision(digits)) <= number) shown += step;
  return signed(shown.toPrecision(digits).replace("e+", "e"));
}

// A certified lower bound of a probability, with six digits: no larger double than it is.
function atLeast(value, digits = 6) {
  const number = real(value);
  if (number === null || !Number.isFinite(number) || number === 0) return short(value, digits);
  const step = Math.max(0.3 * number * 10 ** -digits, Number.MIN_VALUE);
  let shown = number;
  while (Number(shown.toPrecision(digits)) > number) shown -= step;
  return signed(String(Number(shown.toPrecision(digits))).replace("e+", "e"));
}

function probability(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && value < 5e-5) return short(value, 3);
  return value !== 1 && value > 1 - 5e-5 ? `1 − ${short(1 - value, 2)}` : value.toFixed(4);
}

// All digits that mean something, for who points at a number.
const precise = (value) => (value === null || value === undefined ? "–" : plain(value, 12));

const whole = (value) => Math.round(value).toLocaleString("en");
const plural = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

// In nats.
function entropy(probabilities) {
  let sum = 0;
  for (const p of probabilities) if (p > 0) sum -= p * Math.log(p);
  return sum;
}

// Names of variables and states in their natural order: x2 before x10.
const collator = new Intl.Collator("en", {numeric: true, sensitivity: "base"});
