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

function logarithm(value) {
  const number = real(value);
  return number !== null && Number.isFinite(number) && Math.abs(number) < 1e9
    ? signed(number.toFixed(6))
    : short(value);
}

// What is shown of a certified bound is outside of it: rounded down (direction -1) or up (1).
function bound(value, direction, decimals = 6) {
  const number = real(value);
  if (number === null || !Number.isFinite(number) || Math.abs(number) >= 1e9) return short(value);
  const text = number.toFixed(decimals);
  const unit = 10 ** -decimals;
  const isInside = direction < 0 ? Number(text) > number : Number(text) < number;
  return signed(isInside ? (Number(text) + direction * unit).toFixed(decimals) : text);
}

function probability(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && value < 5e-5) return short(value, 3);
  return value !== 1 && value > 1 - 5e-5 ? `1 − ${short(1 - value, 2)}` : value.toFixed(4);
}

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
