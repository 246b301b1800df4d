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

// "pump = 0, load = 2" where the names of the scope can be told apart; a journal knows no names of states.
function namedScope(row, scopes) {
  const states = row.states.split(" "),
    names = (scopes.get(row.factor) || "").split(", ");
  return names.length === states.length ? names.map((name, i) => `${name} = ${states[i]}`).join(", ") : row.states;
}

function journalRows(data) {
  const scopes = new Map(data.factors.map((one) => [one.name, one.scope]));
  const rows = data.rows.map((row) => ({...row, states: namedScope(row, scopes)}));
  const columns = [
    {title: "Factor", value: (row) => row.factor, cell: (row) => row.factor},
    {title: "States", value: (row) => row.states, cell: (row) => row.states},
    {
      title: "Value",
      numeric: true,
      value: (row) => real(row.value) ?? -Infinity,
      cell: (row) => row.failure || short(row.value),
    },
    {title: "Seconds", numeric: true, value: (row) => row.seconds, cell: (row) => short(row.seconds, 4)},
  ];
  const left =
    data.num_left_out > 0 &&
    h("p", {class: "hint"}, `The last ${whole(rows.length)}; ${whole(data.num_left_out)} earlier ones are left out.`);
  const table = richTable({
    label: "Evaluations",
    columns,
    rows,
    found: (row) => `${row.factor} ${row.states}`,
    noun: "evaluation",
  });
  return h("div", {}, left, table);
}

function journalPage(data) {
  const sum = (field) => data.factors.reduce((total, one) => total + one[field], 0);
  const cards = h(
    "div",
    {class: "cards"},
    card("Evaluations", whole(sum("evaluations"))),
    card("Seconds paid", short(sum("seconds"), 4)),
    card("Failed for good", whole(sum("failures"))),
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
    intro: [damaged, cards],
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
      ["rows", "Evaluations", data.rows.length > 0 ? journalRows(data) : null],
      ["parts", "What values depend on", plainTable("Parts", ["Part", "Fingerprint"], data.parts)],
    ],
  };
}
