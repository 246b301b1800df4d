"""Bayesian networks for tests: random ones with names, as BIF, and their answers by elimination written independently of
the program, in exact fractions of the decimals in the file."""

import random
from fractions import Fraction


class Network:
    """names: states by variable; tables: (parents, {parents' states: [Fraction per state]}) by variable."""

    def __init__(self):
        self.states, self.tables = {}, {}

    def add(self, name, states, parents, rows):
        self.states[name] = list(states)
        self.tables[name] = (list(parents), rows)

    def bif(self):
        lines = ["network test {\n}"]
        for name, states in self.states.items():
            listed = ", ".join(quoted(s) for s in states)
            lines.append(f"variable {quoted(name)} {{\n  type discrete [ {len(states)} ] {{ {listed} }};\n}}")
        for name, (parents, rows) in self.tables.items():
            bar = " | " + ", ".join(quoted(p) for p in parents) if parents else ""
            lines.append(f"probability ( {quoted(name)}{bar} ) {{")
            for key, row in rows.items():
                head = f"({', '.join(quoted(s) for s in key)})" if parents else "table"
                lines.append(f"  {head} {', '.join(str(float(p)) for p in row)};")
            lines.append("}")
        return "\n".join(lines) + "\n"

    def factors(self, evidence=None, soft=None):
        """Each (scope, {states: value}), restricted to the evidence."""
        evidence, result = evidence or {}, []
        for name, (parents, rows) in self.tables.items():
            table = {}
            for key, row in rows.items():
                for state, value in zip(self.states[name], row):
                    full = dict(zip(parents, key), **{name: state})
                    if all(evidence.get(v, s) == s for v, s in full.items()):
                        table[tuple(full[v] for v in parents + [name])] = value
            result.append((parents + [name], table))
        for name, weights in (soft or {}).items():
            result.append(([name], {(s,): Fraction(str(w)) for s, w in zip(self.states[name], weights)}))
        return result

    def table(self, keep, evidence=None, soft=None, best=False):
        """The sum (or maximum) over all variables but `keep`, by their states: {states: value}."""
        factors = self.factors(evidence, soft)
        left = [v for v in self.states if v not in keep]
        while left:
            victim = min(left, key=lambda v: len({u for scope, _ in factors if v in scope for u in scope}))
            left.remove(victim)
            touched = [f for f in factors if victim in f[0]]
            factors = [f for f in factors if victim not in f[0]]
            factors.append(combined(touched, [victim], best))
        scope, table = combined(factors, [v for v in {u for s, _ in factors for u in s} if v not in keep], best)
        result = {}
        for key, value in table.items():
            named = dict(zip(scope, key))
            result[tuple(named[v] for v in keep)] = value
        return result


def quoted(name):
    return f'"{name}"' if not name.replace("_", "").isalnum() or not name.isascii() else name


def combined(factors, without, best):
    scope, table = [], {(): Fraction(1)}
    for other_scope, other in factors:
        shared = [v for v in other_scope if v in scope]
        new = [v for v in other_scope if v not in scope]
        index = {}
        for key, value in other.items():
            named = dict(zip(other_scope, key))
            index.setdefault(tuple(named[v] for v in shared), []).append((tuple(named[v] for v in new), value))
        joined = {}
        for key, value in table.items():
            named = dict(zip(scope, key))
            for more, factor in index.get(tuple(named[v] for v in shared), []):
                joined[key + more] = value * factor
        scope, table = scope + new, joined
    kept = [i for i, v in enumerate(scope) if v not in without]
    result = {}
    for key, value in table.items():
        short = tuple(key[i] for i in kept)
        result[short] = max(result.get(short, Fraction(0)), value) if best else result.get(short, Fraction(0)) + value
    return [scope[i] for i in kept], result


def random_network(num_variables, seed, most_parents=2, name=lambda i: f"node_{i}", zeros=0.0):
    rng = random.Random(seed)
    network = Network()
    for i in range(num_variables):
        earlier = list(network.states)
        near = earlier[-6:]
        parents = rng.sample(near, min(len(near), rng.randint(0, most_parents)))
        states = [f"s{j}" for j in range(rng.randint(2, 3))]
        keys = [()]
        for parent in parents:
            keys = [key + (s,) for key in keys for s in network.states[parent]]
        rows = {}
        for key in keys:
            weights = [0 if rng.random() < zeros else rng.randint(1, 99) for _ in states]
            if not any(weights):
                weights[0] = 1
            cents = [100 * w // sum(weights) for w in weights]
            cents[weights.index(max(weights))] += 100 - sum(cents)
            rows[key] = [Fraction(c, 100) for c in cents]
        network.add(name(i), states, parents, rows)
    return network
