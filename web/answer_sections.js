// What was asked and answered, what is certified, bounds over time: one function for each part of the page.

const namedStates = (states) => Object.entries(states).map(([name, state]) => `${name} = ${state}`);

function softText(soft) {
  return soft.map((seen) => `${seen.variable} ~ ${seen.weights.map((w) => plain(w)).join(" : ")}`);
}

const chips = (texts) =>
  h(
    "ul",
    {class: "chips"},
    texts.map((text) => h("li", {}, text)),
  );

// How good the best configuration is known to be.
function bestWord(best) {
  if (best.optimal === true) return real(best.gap) > 0 ? `optimal (certified to ${atMost(best.gap, 1)})` : "optimal";
  const gap = real(best.gap);
  if (gap !== null && Number.isFinite(gap)) return `certified: at most ${atMost(gap)} nats below the best`;
  return "the best that was found";
}

function logZWord(z) {
  if (z.kind === "exact") {
    const width = real(z.upper) - real(z.lower);
    return width > 0 ? `exact (certified to ${atMost(width, 1)})` : "exact";
  }
  return z.kind || "";
}

// The estimate may be the certified lower bound, and is then rounded as one.
const logZValue = (z) => (z.kind === "lower bound" ? bound(z.estimate, -1) : logarithm(z.estimate));

function card(title, value, ...below) {
  return h(
    "div",
    {class: "card"},
    h("h3", {}, title),
    h("p", {class: "value"}, value),
    below
      .flat()
      .filter(Boolean)
      .map((text) => h("p", {}, text)),
  );
}

function alerts(answer) {
  const list = [];
  if (answer.conflict) {
    const seen = [...namedStates(answer.conflict.evidence), ...softText(answer.conflict.soft_evidence)];
    list.push(
      h(
        "div",
        {class: "alert", role: "note"},
        h("strong", {}, "Impossible evidence. "),
        "These observations contradict each other: ",
        chips(seen),
      ),
    );
  } else if (answer.log_z.estimate === "-inf" && answer.log_z.exact) {
    list.push(h("div", {class: "alert", role: "note"}, h("strong", {}, "No configuration is possible"), " (Z = 0)."));
  }
  if (answer.error)
    list.push(h("div", {class: "alert", role: "note"}, h("strong", {}, "Ended by an error: "), answer.error));
  return list;
}

function requestSection(data) {
  const answer = data.answer,
    options = answer.options;
  const asked = answer.queries.map((query) => query.variables.join(", "));
  const given = ["time", "calls", "gap", "samples", "k_best", "sensitivity", "value_for", "map", "seed"]
    .filter((name) => ![null, undefined, "", 0].includes(options[name]) && !(name === "k_best" && options[name] === 1))
    .map(
      (name) =>
        `${name.replace(/_/g, "-")} ${typeof options[name] === "number" ? plain(options[name]) : options[name]}`,
    );
  const evidence = [...namedStates(answer.evidence), ...softText(answer.soft_evidence)];
  return h(
    "div",
    {},
    facts([
      [
        "Model",
        `${answer.model.file || "made by a program"} (${plural(answer.model.num_variables, "variable")}, ` +
          `${plural(answer.model.num_factors, "factor")}${data.graph.is_network ? ", a Bayesian network" : ""})`,
      ],
      [
        "Observed",
        evidence.length > 0
          ? evidence.length > 60
            ? more(plural(evidence.length, "observation"), chips(evidence))
            : chips(evidence)
          : "nothing",
      ],
      [
        "Asked for",
        asked.length > 0 ? chips(asked) : "log Z, the marginals of all variables, the most probable configuration",
      ],
      ["Options", given.join(", ")],
      ["Method", answer.method],
    ]),
    more(
      "Why this method",
      h(
        "ul",
        {},
        [...answer.plan.reasons, ...answer.plan.remarks].map((text) => h("li", {}, text)),
      ),
    ),
    more(
      "All options",
      plainTable(
        "All options",
        ["Option", "Value"],
        Object.entries(options).map(([name, value]) => [
          name.replace(/_/g, "-"),
          value === null || value === "" ? "–" : String(value),
        ]),
      ),
    ),
  );
}

// Each number with how far it can be trusted.
function certifiedSection(data) {
  const answer = data.answer,
    z = answer.log_z,
    rows = [];
  const add = (what, value, kind, note) => rows.push([what, value, h("span", {class: `kind ${kind}`}, kind), note]);
  if (z.lower !== null || z.upper !== null) {
    add(
      "log Z",
      `[${bound(z.lower ?? "-inf", -1)}, ${bound(z.upper ?? "inf", 1)}]`,
      "certified",
      "proved, rounding included",
    );
  }
  const between = (interval) => `[${bound(interval.lower, -1)}, ${bound(interval.upper, 1)}]`;
  if (z.interval && z.kind !== "exact") {
    add("log Z", between(z.interval), "interval", `with confidence ${z.interval.confidence}, by samples`);
  }
  if (z.sampled_interval && z.kind !== "exact") {
    add(
      "log Z",
      between(z.sampled_interval),
      "estimate",
      `about confidence ${z.sampled_interval.confidence}, by the spread of the samples: not certified`,
    );
  }
  if (z.estimate !== null && z.kind !== "exact")
    add("log Z", logZValue(z), "estimate", z.kind === "lower bound" ? "the certified lower bound" : "");
  if (z.importance) {
    add(
      "log Z by samples",
      logarithm(z.importance.estimate),
      "estimate",
      z.importance.std_error !== null
        ? `standard error ${short(z.importance.std_error, 2)}`
        : z.importance.std_error_unknown,
    );
  }
  if (answer.best) {
    const gap = real(answer.best.gap);
    const isCertified = answer.best.optimal === true || (gap !== null && Number.isFinite(gap));
    add(
      "best configuration",
      logarithm(answer.best.log_density),
      isCertified ? "certified" : "estimate",
      bestWord(answer.best),
    );
  }
  if (answer.map) {
    add(
      "marginal MAP",
      `[${bound(answer.map.log_sum_lower, -1)}, ${bound(answer.map.log_sum_upper, 1)}]`,
      "certified",
      answer.map.optimal ? "optimal" : `no other states have more than ${bound(answer.map.log_upper, 1)}`,
    );
  }
  const isExact = answer.marginals_error === 0;
  if (answer.marginals_from && Object.keys(answer.marginals).length > 0) {
    add(
      "marginals",
      isExact
        ? "exact"
        : answer.marginals_error !== null
          ? `errors up to ${atMost(answer.marginals_error, 2)}`
          : "errors not known",
      isExact ? "certified" : "estimate",
      answer.marginals_from,
    );
  }
  if (answer.sampler_divergence !== null) {
    add(
      "samples",
      `KL at most ${atMost(answer.sampler_divergence)} nats`,
      "certified",
      "divergence of what samples are drawn from",
    );
  }
  if (answer.unexplored_mass !== null)
    add("unexplored mass", probability(answer.unexplored_mass), "estimate", "by the search's own opinion");
  return plainTable("What is certified", ["What", "Value", "Kind", "Note"], rows);
}

const LEAST_SECONDS = 0.3; // less is no time over which bounds are looked at

function traceSection(data) {
  const rows = data.trace;
  if (rows.length < 3 || rows.at(-1)[0] - rows[0][0] < LEAST_SECONDS) return null;
  const points = (column) => rows.map((row) => ({x: row[0], y: row[column] === null ? NaN : row[column]}));
  const estimates = rows.some((row) => row[4] !== null);
  const last = rows[rows.length - 1];
  const chart = {
    xLabel: "seconds",
    yLabel: "log Z (nats)",
    isXLog: false,
    isYLog: false,
    description:
      `Certified bounds of log Z over ${short(last[0], 3)} seconds; at the end from ` +
      `${bound(last[2] ?? "-inf", -1)} to ${bound(last[3] ?? "inf", 1)}. The numbers are in the table below.`,
    series: [
      {
        name: "certified",
        color: 0,
        isBand: true,
        isStep: true,
        points: rows.map((row) => ({x: row[0], low: row[2] ?? NaN, high: row[3] ?? NaN})),
      },
      {name: "upper bound", color: 1, isStep: true, points: points(3)},
      {name: "lower bound", color: 2, isStep: true, points: points(2)},
    ],
  };
  if (estimates) chart.series.push({name: "estimate", color: 3, isDashed: true, points: points(4)});
  chart.series = chart.series.filter((series) =>
    series.points.some((p) => Number.isFinite(series.isBand ? p.low + p.high : p.y)),
  );
  const figure = chartFigure(chart);
  const scale = choice(
    [
      ["linear", "linear"],
      ["log", "logarithmic"],
    ],
    "linear",
    (value) => {
      chart.isXLog = value === "log";
      figure.draw();
    },
  );
  const shown = rows.filter((_, i) => i % Math.ceil(rows.length / 40) === 0 || i === rows.length - 1);
  return h(
    "div",
    {},
    h("div", {class: "controls"}, labelled("Time axis", scale)),
    figure.element,
    more(
      "The same as a table",
      plainTable(
        "Bounds over time",
        ["seconds", "evaluations", "lower", "upper", "estimate"],
        shown.map((row) => [
          short(row[0], 4),
          whole(row[1]),
          bound(row[2], -1),
          bound(row[3], 1),
          logarithm(row[4]),
        ]),
        [0, 1, 2, 3, 4],
      ),
    ),
  );
}
