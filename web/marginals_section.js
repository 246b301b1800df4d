// All marginals: bars with errors, sorted by any column, found by name.

function marginalsSection(model, answer) {
  if (!model.marginals.some(Boolean)) {
    return h(
      "p",
      {},
      "There are none: ",
      answer.log_z.estimate === "-inf"
        ? "no configuration is possible."
        : "they were not asked for, or could not be found.",
    );
  }
  const hasErrors = model.errors.some((error) => error > 0);
  const rows = model.names.map((_, v) => v).filter((v) => model.marginals[v]);
  const most = (v) => Math.max(...model.marginals[v]);
  const columns = [
    {title: "Variable", value: (v) => model.names[v], cell: (v) => [model.names[v], " ", badges(model, v)]},
    {title: "Probabilities", cell: (v) => marginalList(model, v)},
    {title: "Largest", numeric: true, value: most, cell: (v) => probability(most(v))},
    {
      title: "Entropy (nats)",
      numeric: true,
      value: (v) => model.entropies[v],
      cell: (v) => short(model.entropies[v], 3),
    },
  ];
  if (hasErrors) {
    columns.push({
      title: "Standard error",
      numeric: true,
      value: (v) => model.errors[v] ?? 0,
      cell: (v) => (model.errors[v] === null ? "–" : short(model.errors[v], 2)),
    });
  }
  const filters = [
    [
      "Show",
      [
        ["all", "all variables", () => true],
        ["open", "not observed", (v) => !isObserved(model, v)],
        ["asked", "asked for", (v) => model.isAsked[v]],
        ["unsure", "not certain (largest below 0.99)", (v) => most(v) < 0.99],
      ].filter(([word]) => word !== "asked" || model.isAsked.some(Boolean)),
    ],
  ];
  const table = richTable({
    label: "Marginals",
    columns,
    rows,
    filters,
    noun: "variable",
    found: (v) => `${model.names[v]} ${model.states[v].slice(0, 50).join(" ")}`,
  });
  const origin = h("span");
  const refresh = () => {
    origin.textContent = model.live?.isChanged()
      ? "Computed in this page for the evidence that you have chosen. "
      : `Where they come from: ${answer.marginals_from || "–"}. `;
    table.refresh();
  };
  refresh();
  if (model.live) model.live.listen(refresh);
  return h(
    "div",
    {},
    h("p", {class: "hint"}, origin, hasErrors ? "Thin lines on bars are one standard error to each side." : ""),
    table,
  );
}
