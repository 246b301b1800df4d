// What was asked, and its answer: the first part of the page.

// What the run found, or what the page computes for evidence that was changed in it.
function summaryCards(data, model) {
  return h("div", {class: "cards"}, model.live?.isChanged() ? liveCards(data, model) : runCards(data));
}

function liveCards(data, model) {
  const {live} = model,
    here = "computed in this page";
  const cards = [card("log Z", logarithm(real(live.logZ) ?? "-inf"), here)];
  if (model.isNetwork && live.isPossible()) cards.push(card("P(evidence)", short(Math.exp(live.logZ)), here));
  if (live.bestLogDensity !== null) {
    cards.push(card("Best configuration", logarithm(live.bestLogDensity), "log density", here));
  }
  return cards;
}

function runCards(data) {
  const answer = data.answer,
    z = answer.log_z;
  const range =
    z.kind !== "exact" && (z.lower !== null || z.upper !== null)
      ? `certified in [${bound(z.lower ?? "-inf", -1)}, ${bound(z.upper ?? "inf", 1)}]`
      : null;
  const cards = [card("log Z", logZValue(z), logZWord(z), range)];
  if (answer.evidence_probability !== null) {
    const least = z.kind === "lower bound";
    const probability = answer.evidence_probability;
    cards.push(card("P(evidence)", least ? atLeast(probability) : short(probability), logZWord(z)));
  }
  if (answer.best)
    cards.push(card("Best configuration", logarithm(answer.best.log_density), "log density", bestWord(answer.best)));
  if (answer.map) {
    cards.push(
      card(
        "Marginal MAP",
        bound(answer.map.log_sum_lower, -1),
        "log of the sum, at least",
        answer.map.optimal ? "optimal" : `no other above ${bound(answer.map.log_upper, 1)}`,
      ),
    );
  }
  for (const [name, text] of data.numbers) cards.push(card(name, text));
  return cards;
}

// What is known: each observation can be taken back where the page can answer again.
function evidenceBar(model) {
  const {live} = model;
  const seen = model.names.map((_, v) => v).filter((v) => isObserved(model, v));
  const take = (v) =>
    live &&
    button("×", () => live.observe(v, -1), {
      class: "take-back",
      "aria-label": `Take back ${model.names[v]} = ${model.states[v][model.observed[v]]}`,
    });
  const soft = model.names.map((_, v) => v).filter((v) => model.soft[v]);
  const list = [
    ...seen.map((v) => h("li", {class: "seen"}, `${model.names[v]} = ${model.states[v][model.observed[v]]}`, take(v))),
    ...soft.map((v) => h("li", {class: "seen"}, softText([{variable: model.names[v], weights: model.soft[v]}]))),
  ];
  const chosen = h("ul", {class: "chips"}, list);
  return h(
    "div",
    {class: "evidence"},
    h("span", {class: "word"}, "Given"),
    list.length === 0 ? h("span", {}, "nothing observed") : list.length > 60 ? more(plural(list.length, "observation"), chosen) : chosen,
    live?.isChanged() && button("Back to what was observed", () => live.reset(), {class: "reset"}),
    live && seen.length > 1 && button("Take all back", () => live.clear(), {class: "quiet"}),
  );
}

function queryBlock(query, model, answer) {
  const places = query.variables.map((name) => model.index.get(name));
  const label = (states) =>
    query.variables.map((name, i) => (places.length > 1 ? `${name} = ${states[i]}` : states[i])).join(", ");
  const isLive = model.live?.isChanged();
  let states = query.table.map((row) => label(query.variables.map((name) => row.states[name])));
  let numbers = query.table.map((row) => row.probability);
  if (isLive) {
    numbers = model.live.isPossible() ? model.live.joint(places) : [];
    const all = places.reduce((rows, v) => rows.flatMap((row) => model.states[v].map((name) => [...row, name])), [[]]);
    states = all.map(label);
  }
  const marked = new Map();
  if (places.length === 1 && isObserved(model, places[0])) marked.set(model.observed[places[0]], "seen");
  const toggle = model.live && places.length === 1 ? (s) => model.live.toggle(places[0], s) : null;
  const how = isLive
    ? "computed in this page"
    : query.error > 0
      ? `standard error at most ${short(query.error, 2)}`
      : answer.marginals_error === 0
        ? "exact"
        : "estimate, error not known";
  return h(
    "div",
    {class: "query"},
    h("h3", {}, query.variables.join(", "), h("span", {class: "how"}, how)),
    numbers === null
      ? h("p", {}, "too many joint states to be computed in this page")
      : numbers.length === 0
        ? h("p", {}, "no answer")
        : distribution(states, numbers, isLive ? 0 : query.error, marked, toggle),
  );
}

// First and large: what was asked, and its answer. Evidence that is clicked changes it.
function questionSection(data, model) {
  const {answer} = data;
  const place = h("div", {class: "question", "aria-live": "polite"});
  const draw = () => {
    const contradiction =
      model.live?.isChanged() &&
      !model.live.isPossible() &&
      h("div", {class: "alert", role: "note"}, h("strong", {}, "Impossible. "), "These observations contradict each other.");
    place.replaceChildren();
    fill(place, {}, [
      evidenceBar(model),
      contradiction,
      answer.queries.length > 0 &&
        h(
          "div",
          {class: "queries"},
          answer.queries.map((query) => queryBlock(query, model, answer)),
        ),
      summaryCards(data, model),
    ]);
  };
  draw();
  if (model.live) model.live.listen(draw);
  return h(
    "div",
    {},
    place,
    model.live &&
      h(
        "p",
        {class: "hint"},
        "Click a state, here, in the graph or in the table of marginals, to observe it, and again to take it back: ",
        "this page computes the answer itself.",
      ),
  );
}
