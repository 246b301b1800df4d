// The model as a circuit, answered in the page: log Z, all marginals and the best configuration under any evidence.
//
// The data are the words of src/count/circuit_shape.hpp. They become a list of operations in which each uses only
// earlier ones: a state (its log weight), a sum and a product. All values are logarithms, so nothing can overflow.
//
//   up      value of each operation; the last one is Z
//   down    d log Z / d log(operation): a state's is its probability

const STATE = 0,
  SUM = 1,
  PRODUCT = 2;

const logAdd = (a, b) => {
  if (a === -Infinity) return b;
  if (b === -Infinity) return a;
  return a > b ? a + Math.log1p(Math.exp(b - a)) : b + Math.log1p(Math.exp(a - b));
};

function makeCircuit(data, states) {
  const kinds = [],
    uses = [],
    constants = [];
  const add = (kind, used, constant = 0) => {
    kinds.push(kind);
    uses.push(used);
    constants.push(constant);
    return kinds.length - 1;
  };
  const variableOf = states.flatMap((list, v) => list.map(() => v));
  const weights = data.weights.map(real);
  for (let s = 0; s < variableOf.length; ++s) add(STATE, [], weights[s]);
  const logConstants = data.constants.map(real);
  const nodes = [],
    {words} = data;
  for (let at = 0; at < words.length; ) {
    const list = () => words.slice(at + 1, (at += 1 + words[at]));
    const terms = [];
    for (let left = words[at++]; left > 0; --left) {
      const factors = list();
      const free = list();
      for (let i = 0; i < free.length; ) {
        const group = [];
        const v = variableOf[free[i]];
        while (i < free.length && variableOf[free[i]] === v) group.push(free[i++]);
        factors.push(group.length === 1 ? group[0] : add(SUM, group));
      }
      for (const child of list()) factors.push(nodes[child]);
      const constant = words[at++];
      terms.push(add(PRODUCT, factors, constant > 0 ? logConstants[constant - 1] : 0));
    }
    nodes.push(add(SUM, terms));
  }
  const first = [];
  let numStates = 0;
  for (const list of states) {
    first.push(numStates);
    numStates += list.length;
  }
  const size = uses.reduce((sum, used) => sum + used.length, 0);
  return {kinds, uses, constants, weights, first, states, size, logConstant: real(data.log_constant)};
}

// Log weights of all states: those of the circuit, soft evidence, and -Infinity for what is not observed.
function weightsGiven(circuit, observed, soft) {
  const weights = [...circuit.weights];
  circuit.states.forEach((list, v) =>
    list.forEach((_, s) => {
      const at = circuit.first[v] + s;
      if (soft[v]) weights[at] += Math.log(soft[v][s]);
      if (observed[v] >= 0 && observed[v] !== s) weights[at] = -Infinity;
    }),
  );
  return weights;
}

// The value of each operation; with `isMax`, sums are maxima.
function circuitUp(circuit, weights, isMax) {
  const {kinds, uses, constants} = circuit;
  const values = new Float64Array(kinds.length);
  for (let i = 0; i < kinds.length; ++i) {
    if (kinds[i] === STATE) {
      values[i] = weights[i];
    } else if (kinds[i] === PRODUCT) {
      let sum = constants[i];
      for (const u of uses[i]) sum += values[u];
      values[i] = sum;
    } else {
      let most = -Infinity;
      for (const u of uses[i]) if (values[u] > most) most = values[u];
      let sum = 0;
      if (!isMax && most > -Infinity) for (const u of uses[i]) sum += Math.exp(values[u] - most);
      values[i] = isMax || most === -Infinity ? most : most + Math.log(sum);
    }
  }
  return values;
}

// Logarithms of d Z / d (operation), without divisions: zeros need no special care.
function circuitDown(circuit, values) {
  const {kinds, uses, constants} = circuit;
  const down = new Float64Array(kinds.length).fill(-Infinity);
  down[kinds.length - 1] = 0;
  for (let i = kinds.length - 1; i >= 0; --i) {
    const used = uses[i];
    if (down[i] === -Infinity || used.length === 0) continue;
    if (kinds[i] === SUM) {
      for (const u of used) down[u] = logAdd(down[u], down[i]);
      continue;
    }
    const after = new Float64Array(used.length + 1);
    for (let k = used.length - 1; k >= 0; --k) after[k] = after[k + 1] + values[used[k]];
    let before = down[i] + constants[i];
    used.forEach((u, k) => {
      down[u] = logAdd(down[u], before + after[k + 1]);
      before += values[u];
    });
  }
  return down;
}

// log Z, and marginals by variable and state; null where nothing is possible.
function circuitAnswer(circuit, observed, soft) {
  const weights = weightsGiven(circuit, observed, soft);
  const values = circuitUp(circuit, weights, false);
  const root = values.at(-1);
  if (root === -Infinity) return {logZ: root, marginals: null};
  const down = circuitDown(circuit, values);
  const marginals = circuit.states.map((list, v) =>
    list.map((_, s) => {
      const at = circuit.first[v] + s;
      return Math.min(1, Math.exp(weights[at] + down[at] - root));
    }),
  );
  return {logZ: root + circuit.logConstant, marginals};
}

// The configuration of the largest density, and the logarithm of that.
function circuitBest(circuit, observed, soft) {
  const values = circuitUp(circuit, weightsGiven(circuit, observed, soft), true);
  if (values.at(-1) === -Infinity) return null;
  const x = circuit.states.map(() => 0);
  const variableOf = circuit.states.flatMap((list, v) => list.map(() => v));
  const open = [values.length - 1];
  while (open.length > 0) {
    const i = open.pop();
    if (circuit.kinds[i] === STATE) x[variableOf[i]] = i - circuit.first[variableOf[i]];
    else if (circuit.kinds[i] === PRODUCT) open.push(...circuit.uses[i]);
    else open.push(circuit.uses[i].reduce((a, b) => (values[b] > values[a] ? b : a)));
  }
  return {x, logDensity: values.at(-1) + circuit.logConstant};
}

// What observing `v` would tell about each other variable, and each other about it: mutual information in nats.
function circuitInformation(circuit, observed, soft, marginals, v) {
  const told = circuit.states.map(() => 0);
  if (observed[v] >= 0) return told;
  circuit.states[v].forEach((_, s) => {
    const share = marginals[v][s];
    if (share === 0) return;
    const given = [...observed];
    given[v] = s;
    circuitAnswer(circuit, given, soft).marginals.forEach((row, u) =>
      row.forEach((p, t) => {
        if (p > 0) told[u] += share * p * Math.log(p / marginals[u][t]);
      }),
    );
  });
  return told.map((x) => Math.max(0, x));
}
