// The page of a journal: what was paid for, by factor and, where the data have them, call by call.

function journalFactors(factors) {
  const mean = (one) => (one.evaluations > 0 ? one.seconds / one.evaluations : 0);
  const columns = [
    {title: "Factor", value: (one) => one.name, cell: (one) => one.name},
    {title: "Variables", value: (one) => one.scope, cell: (one) => one.scope},
    {title: "Evaluations", numeric: true, value: (one) => one.evaluations, cell: (one) => whole(one.evaluations)},
    {title: "Seconds paid", numeric: true, value: (one) => one.seconds, cell: (one) => short(one.seconds, 4)},
    {title: "Seconds each", numeric: true, value: mean, cell: (one) => short(mean(one), 4)},
    {title: "Failed", numeric: true, value: (one) => one.failures, cell: (one) => whole(one.failures)},
  ];
  return richTable({
    label: "Factors",
    columns,
    rows: factors,
    found: (one) => `${one.name} ${one.scope}`,
    noun: "factor",
  });
}

// Values in the order in which they were recorded.
function journalValues(rows) {
  const points = rows.map((row, i) => ({x: i + 1, y: real(row.value) ?? NaN}));
  if (points.filter((p) => Number.isFinite(p.y)).length < 3) return null;
  let best = -Infinity;
  const record = points.map(({x, y}) => ({x, y: (best = Math.max(best, Number.isFinite(y) ? y : -Infinity))}));
  return chartFigure({
    xLabel: "evaluation",
    yLabel: "value (nats)",
    description: `${plural(rows.length, "value")} in the order of recording; the largest is ${short(best)}.`,
    series: [
      {name: "value", color: 0, points, hasMarks: points.length <= 300},
      {name: "largest so far", color: 1, points: record},
    ],
  }).element;
}

// The mass of all that was asked, after each call: where the factor has all variables and the model no other, log Z is at
// least that.
function journalMass(data) {
  if (data.factors.length !== 1 || data.num_left_out > 0) return null;
  let most = -Infinity;
  let sum = 0; // of exp(value - most)
  const points = data.rows.map((row, i) => {
    const value = real(row.value) ?? -Infinity;
    if (value > most) {
      sum = sum * Math.exp(most - value) + 1;
      most = value;
    } else if (value > -Infinity) {
      sum += Math.exp(value - most);
    }
    return {x: i + 1, y: most + Math.log(sum)};
  });
  const found = points.filter((p) => Number.isFinite(p.y));
  if (found.length < 3) return null;
  const total = found.at(-1).y;
  const needed = found.find((p) => p.y >= total + Math.log(0.9)).x;
  const text =
    `The logarithm of the sum of all values so far, ${short(total)} at the end; 90 % of that sum was there after ` +
    `${plural(needed, "evaluation")}. Of a model of this factor alone, over all variables, it is a lower bound of log Z.`;
  const chart = chartFigure({
    xLabel: "evaluation",
    yLabel: "log of the sum (nats)",
    description: text,
    series: [{name: "log of the sum so far", color: 0, points: found}],
  }).element;
  return h("div", {}, h("p", {class: "hint"}, text), chart);
}

// log Z by what the values teach, and what share of it was evaluated; or why that cannot be said.
function journalLogZ(data) {
  const found = data.log_z;
  if (!found) {
    const text =
      "The journal has the values of programs, and not the tables and variables of the model: with --model FILE this " +
      "page has an estimate of log Z and of the share of the mass that was evaluated.";
    return h("p", {class: "hint"}, text);
  }
  if (found.no_estimate) return h("p", {class: "hint"}, `There is no estimate of log Z: ${found.no_estimate}.`);
  const last = found.steps.at(-1);
  const percent = (share) => `${plain(100 * share, 2)} %`;
  const terms = found.num_terms
    .map((count, i) => count > 0 && plural(count, i === 0 ? "main effect" : i === 1 ? "pair" : `term`) + (i > 1 ? ` of ${i + 1} variables` : ""))
    .filter(Boolean);
  const meaning = found.exact
    ? "Every configuration was evaluated: this is log Z up to rounding, without evidence."
    : "An estimate, not certified: true values where the programs were asked, and elsewhere what these values teach " +
      `(${terms.length > 0 ? terms.join(", ") : "a constant"}), without evidence. Models drawn from what the values leave ` +
      `open differ by ${short(found.spread, 2)} in log Z (standard deviation); what the learned terms cannot describe is ` +
      "not in that. An error that true values of samples confirm is in the answer of infer.";
  const share = found.exact
    ? null
    : found.share === null
      ? `What share of the mass was evaluated is not summed: ${found.no_share}.`
      : `By this estimate ${percent(found.share)} of the mass was evaluated; log Z is at least ${bound(last.lower, -1)}, which is certified.`;
  const list = facts([
    [found.exact ? "log Z" : "log Z, estimate", short(last.estimate)],
    ["At least (certified)", last.lower === null ? null : bound(last.lower, -1)],
    ["Share of the mass evaluated", found.share === null ? null : `about ${percent(found.share)}`],
  ]);
  const points = (field) => found.steps.map((step) => ({x: step.calls, y: real(step[field]) ?? NaN}));
  const chart =
    found.steps.length > 2 &&
    chartFigure({
      xLabel: "evaluation",
      yLabel: "log Z (nats)",
      description: `The estimate of log Z and the certified lower bound after ${found.steps.map((s) => s.calls).join(", ")} evaluations.`,
      series: [
        {name: "estimate", color: 1, points: points("estimate"), hasMarks: true},
        {name: "certified lower bound", color: 0, points: points("lower"), hasMarks: true},
      ],
    }).element;
  return h("div", {}, list, h("p", {class: "hint"}, meaning), share && h("p", {class: "hint"}, share), chart);
}

// The largest values, a line each over the variables of their factor: which states the good ones share.
function journalBest(data) {
  const kMost = 40;
  const factor = data.factors.reduce((a, b) => (b.evaluations > a.evaluations ? b : a), data.factors[0]);
  if (!factor || factor.variables.length < 2 || factor.variables.length > 60) return null;
  const rows = data.rows.filter((row) => row.factor === factor.name && Number.isFinite(real(row.value) ?? NaN));
  if (rows.length < 3) return null;
  const best = [...rows].sort((a, b) => b.value - a.value).slice(0, kMost);
  const largest = factor.variables.map((_, v) => Math.max(1, ...rows.map((row) => row.indices[v])));
  const step = Math.max(26, Math.min(90, 760 / (factor.variables.length - 1)));
  const box = {left: 72, top: 14, height: 190, width: step * (factor.variables.length - 1)};
  const x = (v) => box.left + v * step;
  const y = (v, state) => box.top + box.height * (1 - state / largest[v]);
  const axes = factor.variables.map((name, v) => [
    svg("line", {
      style: {stroke: "currentColor", opacity: "0.3"},
      x1: x(v),
      x2: x(v),
      y1: box.top,
      y2: box.top + box.height,
    }),
    svg(
      "text",
      {
        style: {fill: "currentColor", "font-size": "12px"},
        "text-anchor": "end",
        transform: `translate(${x(v) + 4} ${box.top + box.height + 14}) rotate(-40)`,
      },
      name.length > 16 ? `${name.slice(0, 15)}…` : name,
    ),
  ]);
  // The best last, on top.
  const lines = best.map((row, i) =>
    svg(
      "polyline",
      {
        points: row.indices.map((state, v) => `${x(v)},${y(v, state)}`).join(" "),
        style: {
          fill: "none",
          stroke: i === 0 ? "var(--series-1)" : "var(--series-0)",
          "stroke-width": i === 0 ? "2.5" : "1.2",
          opacity: i === 0 ? "1" : String(Math.max(0.15, 0.8 - (0.65 * i) / kMost)),
        },
      },
      svg("title", {}, `${short(row.value)}: ${row.states}`),
    ),
  );
  const text = `The ${plural(best.length, "largest value")} of ${factor.name}, from ${short(best.at(-1).value)} to ${short(best[0].value)}: a line each through the states of the variables, the first state below. The largest: ${best[0].states}.`;
  const width = box.left + box.width + 24;
  const picture = svg(
    "svg",
    {viewBox: `0 0 ${width} ${box.top + box.height + 84}`, width, role: "img", "aria-label": text},
    axes,
    lines.reverse(),
  );
  return h("div", {}, h("p", {class: "hint"}, text), scrolled(picture, "The best"));
}

// Calls, seconds and failures of each worker.
function journalWorkers(rows) {
  const workers = new Map();
  for (const row of rows) {
    const one = workers.get(row.worker) || {name: row.worker || "not known", calls: 0, seconds: 0, failures: 0};
    one.calls += 1;
    one.seconds += row.seconds;
    one.failures += row.failure ? 1 : 0;
    workers.set(row.worker, one);
  }
  const columns = [
    {title: "Worker", value: (one) => one.name, cell: (one) => one.name},
    {title: "Calls", numeric: true, value: (one) => one.calls, cell: (one) => whole(one.calls)},
    {title: "Seconds", numeric: true, value: (one) => one.seconds, cell: (one) => short(one.seconds, 4)},
    {title: "Failed", numeric: true, value: (one) => one.failures, cell: (one) => whole(one.failures)},
  ];
  const list = [...workers.values()];
  return richTable({label: "Workers", columns, rows: list, found: (one) => one.name, noun: "worker"});
}

function journalRows(data) {
  const rows = data.rows;
  const columns = [
    {title: "Number", numeric: true, value: (row) => row.number, cell: (row) => (row.number > 0 ? whole(row.number) : "–")},
    {title: "States", value: (row) => row.states, cell: (row) => row.states},
    {
      title: "Value",
      numeric: true,
      value: (row) => real(row.value) ?? -Infinity,
      cell: (row) => row.failure || short(row.value),
    },
    {title: "Seconds", numeric: true, value: (row) => row.seconds, cell: (row) => short(row.seconds, 4)},
    {title: "Factor", value: (row) => row.factor, cell: (row) => row.factor},
    {title: "Worker", value: (row) => row.worker, cell: (row) => row.worker},
    {title: "Time (UTC)", value: (row) => row.time, cell: (row) => row.time},
  ];
  const left =
    data.num_left_out > 0 &&
    h("p", {class: "hint"}, `The last ${whole(rows.length)}; ${whole(data.num_left_out)} earlier ones are left out.`);
  const table = richTable({
    label: "Calls",
    columns,
    rows,
    found: (row) => `${row.factor} ${row.states} ${row.worker}`,
    noun: "call",
  });
  return h("div", {}, left, table);
}

// While a run goes on, the page is written again and again: it is read anew, unless the reader is typing.
function journalFollowed(seconds) {
  if (!(seconds > 0)) return null;
  let isOn = true;
  const turn = button("Stop", () => {
    isOn = !isOn;
    turn.textContent = isOn ? "Stop" : "Go on";
  });
  setInterval(() => {
    if (isOn && !document.activeElement?.matches("input, select")) location.reload();
  }, 1000 * seconds);
  return h("p", {class: "status", id: "followed"}, "The journal is growing; this page shows it as it does. ", turn);
}

function journalPage(data) {
  const sum = (field) => data.factors.reduce((total, one) => total + one[field], 0);
  const cards = h(
    "div",
    {class: "cards"},
    card("Evaluations", whole(sum("evaluations"))),
    card("Seconds paid", short(sum("seconds"), 4)),
    card("Failed for good", whole(sum("failures"))),
    data.log_z?.steps.length > 0 &&
      card(
        data.log_z.exact ? "log Z" : "log Z, estimate",
        short(data.log_z.steps.at(-1).estimate),
        data.log_z.share !== null && `about ${plain(100 * data.log_z.share, 2)} % of the mass evaluated`,
      ),
  );
  const failures = data.factors.filter((one) => one.failures > 0).map((one) => [one.name, one.last_failure]);
  const damaged =
    data.damaged.length > 0 &&
    h(
      "div",
      {class: "alert", role: "note"},
      h("strong", {}, "Damaged rows. "),
      "treesample journal FILE --repair drops them.",
      h(
        "ul",
        {},
        data.damaged.map((text) => h("li", {}, text)),
      ),
    );
  return {
    title: data.title,
    intro: [damaged, journalFollowed(data.reload_seconds), cards],
    parts: [
      [
        "journal",
        "The journal",
        facts([
          ["File", data.file],
          ["Model", data.model],
          ["Begun", `${data.created} UTC`],
          ["Fingerprint", data.fingerprint],
        ]),
      ],
      ["factors", "Factors", journalFactors(data.factors)],
      [
        "failures",
        "Failures",
        failures.length > 0 ? plainTable("Failures", ["Factor", "The last one"], failures) : null,
      ],
      ["values", "Values", journalValues(data.rows)],
      ["logz", "log Z", journalLogZ(data)],
      ["mass", "Mass found", (data.log_z?.share ?? null) === null ? journalMass(data) : null],
      ["best", "The best", data.rows.length > 0 ? journalBest(data) : null],
      ["workers", "Workers", data.rows.length > 0 ? journalWorkers(data.rows) : null],
      ["rows", "Calls", data.rows.length > 0 ? journalRows(data) : null],
      ["parts", "What values depend on", plainTable("Parts", ["Part", "Fingerprint"], data.parts)],
    ],
  };
}
