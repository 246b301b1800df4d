// Evidence that the reader changes: what was observed, and the answer to it, by the circuit in the page. Everything that
// shows marginals listens.

const MOST_WORK = 3e7; // operations for one click, about a second

// Puts the answer for `observed` into the model.
function recompute(model, live) {
  const {logZ, marginals} = circuitAnswer(live.circuit, live.observed, model.soft);
  model.observed = [...live.observed];
  model.marginals = marginals || model.states.map((list) => list.map(() => 0));
  model.errors = model.names.map(() => 0);
  const best = marginals && circuitBest(live.circuit, live.observed, model.soft);
  model.best = best ? best.x : null;
  live.bestLogDensity = best ? best.logDensity : null;
  live.logZ = logZ;
}

// Null where the page has no circuit.
function makeLive(data, model) {
  if (!data.circuit || model.size === 0) return null;
  const circuit = makeCircuit(data.circuit, model.states);
  const given = {observed: model.observed, marginals: model.marginals, errors: model.errors, best: model.best};
  const listeners = [];
  const live = {
    circuit,
    observed: [...given.observed],
    logZ: real(data.answer.log_z.estimate),
    isChanged: () => live.observed.some((state, v) => state !== given.observed[v]),
    isPossible: () => live.logZ !== -Infinity,
    listen: (listener) => listeners.push(listener),
    // The same state again takes it back.
    toggle: (v, state) => live.observe(v, live.observed[v] === state ? -1 : state),
    observe: (v, state) => {
      live.observed[v] = state;
      live.update();
    },
    reset: () => {
      live.observed = [...given.observed];
      live.update();
    },
    clear: () => {
      live.observed = live.observed.map(() => -1);
      live.update();
    },
    update: () => {
      if (live.isChanged()) {
        recompute(model, live);
      } else {
        Object.assign(model, given);
        live.logZ = real(data.answer.log_z.estimate);
      }
      model.entropies = model.marginals.map((row) => (row ? entropy(row) : 0));
      for (const listener of listeners) listener();
    },
    // The joint distribution of some variables, the last one fastest; null if it would take many passes.
    joint: (variables) => {
      const before = variables.slice(0, -1),
        last = variables.at(-1);
      const passes = before.reduce((count, v) => count * model.states[v].length, 1);
      if (passes * circuit.size > MOST_WORK) return null;
      const table = [];
      for (let k = 0; k < passes; ++k) {
        const observed = [...live.observed];
        let rest = k,
          isPossible = true;
        for (const v of [...before].reverse()) {
          const state = rest % model.states[v].length;
          rest = Math.floor(rest / model.states[v].length);
          isPossible &&= observed[v] < 0 || observed[v] === state;
          observed[v] = state;
        }
        const part = isPossible ? circuitAnswer(circuit, observed, model.soft) : {logZ: -Infinity};
        const share = part.logZ === -Infinity ? 0 : Math.exp(part.logZ - live.logZ);
        model.states[last].forEach((_, s) => table.push(share > 0 ? share * part.marginals[last][s] : 0));
      }
      return table;
    },
    // Mutual information of the ends of each arrow or line, given the evidence; null if it would take too long.
    information: (v) => circuitInformation(circuit, live.observed, model.soft, model.marginals, v),
    canTellAll: () => circuit.size * model.states.flat().length <= MOST_WORK,
  };
  return live;
}
