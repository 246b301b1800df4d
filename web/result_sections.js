// Configurations, influences, and what it took: one function for each part of the page.

function bestSection(model, answer) {
  if (!answer.best) return null;
  const x = () => model.best || answer.best.x;
  const certain = (v) => (model.marginals[v] ? model.marginals[v][x()[v]] : null);
  const columns = [
    {title: "Variable", value: (v) => model.names[v], cell: (v) => [model.names[v], " ", badges(model, v)]},
    {title: "State", value: (v) => model.states[v][x()[v]], cell: (v) => model.states[v][x()[v]]},
  ];
  if (model.marginals.some(Boolean)) {
    columns.push({
      title: "Its marginal",
      numeric: true,
      value: (v) => certain(v) ?? -1,
      cell: (v) => probability(certain(v)),
    });
  }
  const table = richTable({
    label: "Most probable configuration",
    columns,
    rows: model.names.map((_, v) => v),
    noun: "variable",
    found: (v) => `${model.names[v]} ${model.states[v][x()[v]]}`,
  });
  const how = h("span");
  const refresh = () => {
    how.textContent = !model.live?.isChanged()
      ? `Log density ${logarithm(answer.best.log_density)}, ${bestWord(answer.best)}. `
      : model.best
        ? `Log density ${logarithm(model.live.bestLogDensity)}, computed in this page for the evidence that you have chosen. `
        : "With the evidence that you have chosen nothing is possible: this is the one for what was observed. ";
    table.refresh();
  };
  refresh();
  if (model.live) model.live.listen(refresh);
  return h(
    "div",
    {},
    h(
      "p",
      {class: "hint"},
      how,
      "It is the most probable one as a whole: single states need not be the most probable ones of their variables.",
    ),
    table,
    kBestPart(model, answer),
    mapPart(answer),
  );
}

// Against the best one.
function kBestPart(model, answer) {
  if (!answer.k_best) return null;
  const [first] = answer.k_best.configurations;
  const difference = (one) =>
    one.x
      .map((s, v) => [s, v])
      .filter(([s, v]) => s !== first.x[v])
      .map(([s, v]) => `${model.names[v]} = ${model.states[v][s]}`);
  return h(
    "div",
    {},
    h("h3", {}, `The ${answer.k_best.configurations.length} best`),
    h(
      "p",
      {class: "hint"},
      answer.k_best.optimal ? "No other configuration is better than these." : "The best that were found.",
    ),
    plainTable(
      "The best configurations",
      ["", "Log density", "Other states than in the first"],
      answer.k_best.configurations.map((one, i) => [
        String(i + 1),
        logarithm(one.log_density),
        i === 0 ? "–" : chips(difference(one)),
      ]),
      [1],
    ),
  );
}

function mapPart(answer) {
  if (!answer.map) return null;
  const map = answer.map;
  return h(
    "div",
    {},
    h("h3", {}, "Most probable states of some variables, the others summed out"),
    map.states ? chips(namedStates(map.states)) : h("p", {}, "none"),
    h(
      "p",
      {class: "hint"},
      `Log of the sum in [${bound(map.log_sum_lower, -1)}, ${bound(map.log_sum_upper, 1)}], `,
      map.optimal ? "optimal" : `no other states have more than ${bound(map.log_upper, 1)}`,
      ` (${map.by}).`,
    ),
  );
}

function influenceSection(data, model) {
  const {sensitivity, observation_values: values} = data.answer;
  if (!sensitivity && !values) return null;
  const parts = [];
  if (sensitivity) {
    const of = sensitivity.of === "log_z" ? "log Z" : `P(${namedStates(sensitivity.of).join(", ")})`;
    const most = Math.max(...sensitivity.most_influential.map((one) => Math.abs(real(one.derivative))), 1e-300);
    parts.push(
      h("h3", {}, `Parameters that ${of} depends on most`),
      h(
        "p",
        {class: "hint"},
        "Derivatives by entries of tables",
        sensitivity.rows_add_up ? ", the other entries of a row changing in proportion so that it adds up to 1." : ".",
      ),
      plainTable(
        "Most influential parameters",
        ["Parameter", "Value", "Derivative", ""],
        sensitivity.most_influential.map((one) => [
          parameterText(one, model, sensitivity.rows_add_up),
          plain(one.value),
          short(one.derivative, 5),
          bar(Math.abs(real(one.derivative)) / most),
        ]),
        [1, 2],
      ),
    );
  }
  if (values) {
    const list = Object.entries(values.information).sort((a, b) => b[1] - a[1]);
    const most = Math.max(values.entropy, 1e-300);
    parts.push(
      h("h3", {}, `What an observation would tell about ${values.for}`),
      h("p", {class: "hint"}, `Expected reduction of its entropy, of ${short(values.entropy, 4)} nats.`),
      richTable({
        label: "Value of observations",
        rows: list,
        noun: "variable",
        found: ([name]) => name,
        columns: [
          {title: "Variable", value: ([name]) => name, cell: ([name]) => name},
          {title: "Information (nats)", numeric: true, value: ([, bits]) => bits, cell: ([, bits]) => short(bits, 4)},
          {title: "Of its entropy", cell: ([, bits]) => bar(bits / most)},
        ],
      }),
    );
  }
  return h("div", {}, parts);
}

// P(child = state | parents) of a network, else the entry of a factor.
function parameterText(one, model, isNetwork) {
  const scope = model.scopes ? model.scopes[one.factor] : null;
  const names = scope ? scope.map((v) => model.names[v]) : Object.keys(one.states);
  const parts = names.map((name) => `${name} = ${one.states[name]}`);
  if (!isNetwork) return `factor ${one.factor}: ${parts.join(", ")}`;
  const child = parts.pop();
  return parts.length > 0 ? `P(${child} | ${parts.join(", ")})` : `P(${child})`;
}

function spentSection(data) {
  const answer = data.answer;
  return h(
    "div",
    {},
    facts([
      ["Seconds", short(answer.seconds, 4)],
      ["Reward evaluations", whole(answer.spent.reward_evaluations)],
      ["Factor evaluations", whole(answer.spent.factor_evaluations)],
      ["Calls of programs", answer.spent.calls > 0 ? whole(answer.spent.calls) : ""],
      [
        "Model after simplification",
        `${plural(answer.simplified.num_variables, "variable")}, ${plural(answer.simplified.num_factors, "factor")}`,
      ],
      ["Samples", data.num_samples > 0 ? whole(data.num_samples) : ""],
      ["Made by", answer.program],
    ]),
    answer.programs &&
      plainTable(
        "Programs",
        ["Factor", "Paid", "From the journal", "Failed"],
        answer.programs.map((one) => [one.factor, whole(one.paid), whole(one.from_journal), whole(one.failed)]),
        [1, 2, 3],
      ),
  );
}
