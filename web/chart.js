// Lines over an axis: drawn anew for the width that there is, so that letters keep their size.
//
// A series is {name, points: [{x, y, error}], isBand, isStep, isDashed, color}; a band is the area between `low` and
// `high` of its points. What holds until the next point, as a bound does, is a step: a slanted line would show values
// that nobody knew at that time. Points that cannot be drawn (not finite, not positive on a logarithmic axis) are left
// out.

// At least two, without which there is no scale.
function linearTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [10, 5, 2, 1, 0.5, 0.2, 0.1].map((f) => f * power);
  for (const step of steps.slice(steps.findLastIndex((s) => s >= rough))) {
    const first = Math.ceil(low / step);
    const last = Math.floor((high + 1e-9 * step) / step);
    if (last > first) return Array.from({length: last - first + 1}, (_, i) => (first + i) * step);
  }
  return [low, high];
}

function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const steps = decades > 3 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 3, 5, 7];
  const stride = Math.max(1, Math.ceil(decades / 7));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    if (((power % stride) + stride) % stride !== 0) continue;
    for (const f of steps) ticks.push(f * 10 ** power);
  }
  return ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001);
}

// A scale from values to [from, to].
function makeScale(values, isLog, from, to) {
  let low = Math.min(...values),
    high = Math.max(...values);
  if (isLog) {
    if (low === high) [low, high] = [low / 2, high * 2];
    const at = (v) => from + (to - from) * (Math.log(v / low) / Math.log(high / low));
    const ticks = logTicks(low, high);
    return {at, low, isDrawable: (v) => v > 0, ticks: ticks.length >= 2 ? ticks : [low, high], label: (t) => plain(t, 3)};
  }
  const pad = high > low ? 0.04 * (high - low) : Math.max(1e-6, 0.05 * Math.abs(high));
  low -= pad;
  high += pad;
  const ticks = linearTicks(low, high, Math.max(2, Math.abs(to - from) / 80));
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  const decimals = Math.min(15, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const label = (t) => (Math.abs(t) >= 1e7 ? plain(t, 5) : signed(t.toFixed(decimals)));
  return {at: (v) => from + (to - from) * ((v - low) / (high - low)), low, isDrawable: () => true, ticks, label};
}

function axisParts(x, y, box, labels) {
  const parts = [];
  for (const t of y.ticks) {
    parts.push(
      svg("line", {class: "grid", x1: box.left, x2: box.right, y1: y.at(t), y2: y.at(t)}),
      svg("text", {class: "tick", x: box.left - 6, y: y.at(t), dy: "0.32em", "text-anchor": "end"}, y.label(t)),
    );
  }
  for (const t of x.ticks) {
    parts.push(
      svg("line", {class: "grid", x1: x.at(t), x2: x.at(t), y1: box.top, y2: box.bottom}),
      svg("text", {class: "tick", x: x.at(t), y: box.bottom + 16, "text-anchor": "middle"}, x.label(t)),
    );
  }
  parts.push(
    svg("text", {class: "axis", x: box.right, y: box.bottom + 34, "text-anchor": "end"}, labels.x),
    svg("text", {class: "axis", x: 2, y: 12}, labels.y),
  );
  return parts;
}

// With a corner before each point: the last value, at its place.
const asSteps = (points) => points.flatMap((p, i) => (i === 0 ? [p] : [{...points[i - 1], x: p.x}, p]));

function seriesParts(series, x, y, canDraw) {
  const color = `var(--series-${series.color % 10})`;
  const marks = series.points.filter(canDraw);
  const points = series.isStep ? asSteps(marks) : marks;
  const at = (p, v) => `${x.at(p.x).toFixed(1)},${y.at(v).toFixed(1)}`;
  if (series.isBand) {
    const there = points.map((p) => at(p, p.high));
    const back = points.map((p) => at(p, p.low)).reverse();
    return [svg("polygon", {points: [...there, ...back].join(" "), style: {fill: color}, class: "band"})];
  }
  const parts = [
    svg("polyline", {
      points: points.map((p) => at(p, p.y)).join(" "),
      class: "line",
      style: {stroke: color},
      "stroke-dasharray": series.isDashed ? "6 4" : [null, "9 3", "2 3"][series.dashes || 0],
    }),
  ];
  for (const p of marks) {
    if (!(p.error > 0)) continue;
    const [low, high] = [p.y - p.error, p.y + p.error].map((v) => y.at(y.isDrawable(v) ? v : y.low));
    parts.push(
      svg("path", {
        class: "error-bar",
        style: {stroke: color},
        d: `M${x.at(p.x)},${low}V${high}M${x.at(p.x) - 4},${low}h8M${x.at(p.x) - 4},${high}h8`,
      }),
    );
  }
  if (!series.hasMarks && marks.length > 2) return parts;
  for (const p of marks) {
    const title = svg("title", {}, `${series.name}: ${short(p.y, 4)} at ${short(p.x, 4)}`);
    parts.push(svg("circle", {cx: x.at(p.x), cy: y.at(p.y), r: 3.5, style: {fill: color}}, title));
  }
  return parts;
}

function drawChart(chart, width) {
  const height = Math.max(220, Math.min(380, 0.5 * width));
  const box = {left: 64, right: width - 26, top: 24, bottom: height - 44};
  const isDrawable = (v, isLog) => Number.isFinite(v) && (!isLog || v > 0);
  const canDraw = (p) =>
    isDrawable(p.x, chart.isXLog) && [p.y, p.low, p.high].every((v) => v === undefined || isDrawable(v, chart.isYLog));
  const all = chart.series.flatMap((series) => series.points.filter(canDraw));
  if (all.length === 0) return {picture: svg("svg", {width, height: 1}), values: () => null};
  const x = makeScale(
    all.map((p) => p.x),
    chart.isXLog,
    box.left,
    box.right,
  );
  const y = makeScale(
    all.flatMap((p) =>
      [p.y, p.low, p.high, p.y + p.error, p.y - p.error].filter((v) => isDrawable(v, chart.isYLog)),
    ),
    chart.isYLog,
    box.bottom,
    box.top,
  );
  const picture = svg(
    "svg",
    {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": chart.description},
    axisParts(x, y, box, {x: chart.xLabel, y: chart.yLabel}),
    chart.series.map((series) => seriesParts(series, x, y, canDraw)),
  );
  return {picture, x, box, values: (at) => valuesAt(chart, at, x, canDraw)};
}

// The value of each series nearest to a place on the screen; of a step, the one that holds there.
function valuesAt(chart, place, x, canDraw) {
  const found = chart.series
    .filter((series) => series.name && !series.isBand)
    .map((series) => {
      const points = series.points.filter(canDraw);
      const before = points.filter((p) => x.at(p.x) <= place + 1);
      const near = series.isStep
        ? before.at(-1)
        : points.reduce((a, b) => (a && Math.abs(x.at(a.x) - place) <= Math.abs(x.at(b.x) - place) ? a : b), null);
      return near && {name: series.name, x: near.x, text: short(near.y) + (near.error > 0 ? ` ± ${short(near.error, 2)}` : "")};
    })
    .filter(Boolean);
  return found.length === 0 ? null : {x: found[0].x, found};
}

const strokeClass = (series) => ["", "dashed", "dotted"][series.isDashed ? 1 : series.dashes || 0];

// The chart with its key. `chart.isXLog` may be changed before draw() of what is returned.
function chartFigure(chart) {
  const place = h("div", {class: "chart"});
  const told = h("p", {class: "hint values", "aria-hidden": "true"});
  const key = h(
    "ul",
    {class: "key"},
    chart.series
      .filter((series) => series.name)
      .map((series) =>
        h(
          "li",
          {},
          h("span", {
            class: `swatch ${series.isBand ? "area" : strokeClass(series)}`,
            "aria-hidden": "true",
            style: {color: `var(--series-${series.color % 10})`},
          }),
          series.name,
        ),
      ),
  );
  let width = 0;
  let drawn = null;
  const draw = () => {
    drawn = drawChart(chart, width);
    place.replaceChildren(drawn.picture);
    told.textContent = "";
  };
  const point = (event) => {
    const at = event.clientX - place.getBoundingClientRect().left;
    const values = drawn?.values(at);
    place.querySelector(".pointer")?.remove();
    told.textContent = "";
    if (!values) return;
    const {box, x} = drawn;
    drawn.picture.append(
      svg("line", {class: "pointer", x1: x.at(values.x), x2: x.at(values.x), y1: box.top, y2: box.bottom}),
    );
    told.textContent =
      `${chart.xLabel} ${short(values.x, 4)}: ` + values.found.map(({name, text}) => `${name} ${text}`).join(", ");
  };
  place.addEventListener("pointermove", point);
  place.addEventListener("pointerleave", () => {
    place.querySelector(".pointer")?.remove();
    told.textContent = "";
  });
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now < 50 || now === width) return;
    width = now;
    draw();
  }).observe(place);
  const buttons = pictureButtons(() => place.querySelector("svg"), "chart");
  return {element: h("figure", {}, place, told, h("div", {class: "below"}, key, buttons)), draw};
}
