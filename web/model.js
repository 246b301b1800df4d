// The model of an answer by index: names may be any text, "__proto__" and "7" too, and several may look alike.

function modelOf(data) {
  const answer = data.answer;
  const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : null);
  const names = answer.variables.map((variable) => variable.name);
  const states = answer.variables.map((variable) => variable.states);
  const hasMarginals = Object.keys(answer.marginals).length > 0;
  const soft = new Map(answer.soft_evidence.map((seen) => [seen.variable, seen.weights]));
  const asked = new Set(answer.queries.flatMap((query) => query.variables));
  const model = {
    names,
    states,
    size: names.length,
    marginals: names.map((name, v) => {
      const row = hasMarginals ? own(answer.marginals, name) : null;
      return row && states[v].map((state) => own(row, state) ?? 0);
    }),
    errors: names.map((_, v) => (answer.marginal_errors ? answer.marginal_errors[v] : null)),
    observed: names.map((name, v) => {
      const state = own(answer.evidence, name);
      return state === null ? -1 : states[v].indexOf(state);
    }),
    soft: names.map((name) => soft.get(name) || null),
    isAsked: names.map((name) => asked.has(name)),
    best: answer.best ? answer.best.x : null,
    isNetwork: data.graph.is_network,
    scopes: data.graph.scopes,
  };
  model.index = new Map(names.map((name, v) => [name, v]));
  model.entropies = model.marginals.map((row) => (row ? entropy(row) : 0));
  model.live = makeLive(data, model);
  return model;
}

const isObserved = (model, v) => model.observed[v] >= 0;

// By variable: parents and children in a network, else all that share a factor with it. Made when it is asked for.
function neighboursOf(model) {
  if (model.around) return model.around;
  const parents = model.names.map(() => new Set()),
    children = model.names.map(() => new Set());
  const others = model.names.map(() => new Set());
  for (const scope of model.scopes || []) {
    const child = scope[scope.length - 1];
    for (const v of scope) {
      if (model.isNetwork && v !== child) {
        parents[child].add(v);
        children[v].add(child);
      }
      if (model.isNetwork) continue;
      for (const u of scope.length <= 64 ? scope : scope.slice(0, 64)) if (u !== v) others[v].add(u);
    }
  }
  model.around = model.names.map((_, v) => ({
    parents: [...parents[v]],
    children: [...children[v]],
    others: [...others[v]],
  }));
  return model.around;
}

// "lung", with what was seen of it.
function badges(model, v) {
  return [
    isObserved(model, v) && h("span", {class: "badge seen"}, "observed"),
    model.soft[v] && h("span", {class: "badge seen"}, "soft evidence"),
    model.isAsked[v] && h("span", {class: "badge"}, "asked"),
  ];
}

function marginalList(model, v) {
  if (!model.marginals[v]) return h("p", {}, "no marginals");
  const marked = new Map();
  if (isObserved(model, v)) marked.set(model.observed[v], "seen");
  const toggle = model.live && ((s) => model.live.toggle(v, s));
  return distribution(model.states[v], model.marginals[v], model.errors[v], marked, toggle);
}
