#!/usr/bin/env python3
"""Certified numbers against enumeration in decimals: run_decimal_tests.py PROGRAM [MODELS] [SEED]

Random small models whose files hold decimals that are no doubles: near 1, far beyond a double's range, next to the
corners of the search's wide-range numbers, zeros; as .uai, .bif and .json, with evidence, with programs. The truth is
that of the digits in the file, with 60 digits; each model is asked with several methods and options. Fails when

- log Z lies outside of [lower, upper], in the answer or in a row of the trace; a bound, an estimate or a lower end
  of the interval are out of order; `exact` has bounds further apart than 1e-6;
- a certified number in the text is not rounded outward;
- a model that is known to be impossible has samples, or a sample of an exact answer is impossible;
- marginals that are called exact are off by more than 1e-6;
- the density of the best configuration or of a sample is off by more than its rounding; a configuration is better than
  one that is called optimal by more than `best.gap`.
"""

import itertools
import json
import os
import random
import re
import sys
import tempfile
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, setcontext

from checks import check, finish, read_json, run, write

NUM_MODELS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
RUNS_PER_MODEL = 3
MINUS_INF = Decimal("-Infinity")
TOLERANCE = Decimal("1e-6")  # of what is called exact
UNIT = Decimal(2) ** -52
setcontext(Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN))

PROGRAM_TEXT = """
import json, sys
values = json.load(open("values.json"))
sys.stdin.readline()
print('{"ready": true}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    answers = [values[str(states)] for states in request["assignments"]]
    print(json.dumps({"id": request["id"], "log_values": answers}), flush=True)
"""


def mantissa(draw):
    digits = draw.choice((1, 3, 17, 17, 30))
    return f"{draw.randint(1, 9)}.{''.join(str(draw.randint(0, 9)) for _ in range(digits))}"


def far_number(draw):
    """Beyond doubles, or next to 266, 532, ... nats (10^115 = e^265), where wide-range numbers change their unit."""
    corner = draw.choice((115, 116, 231, 346, 347)) * draw.choice((-1, 1))
    return f"{mantissa(draw)}e{draw.choice((draw.randint(-400, 400), corner))}"


def near_one(draw):
    return draw.choice((f"1.{draw.randint(0, 99):015d}", f"0.{'9' * draw.randint(1, 20)}{draw.randint(1, 9)}"))


def number(draw, kind, zeros=0.15):
    if draw.random() < zeros:
        return "0"
    if kind == "mixed":
        kind = draw.choice(("unit", "unit", "far", "far", "near"))
    return {"unit": lambda: repr(draw.random()), "far": lambda: far_number(draw), "near": lambda: near_one(draw),
            "huge": lambda: f"{mantissa(draw)}e{draw.choice((-1, 1)) * draw.choice((1000, 100000))}",
            "double": lambda: f"{mantissa(draw)}e{draw.randint(-307, 300)}"}[kind]()


def log_number(draw, scale, zeros):
    """A log-value; some models have ones that cancel."""
    if draw.random() < zeros:
        return "-inf"
    return f"{draw.choice(('', '-'))}{mantissa(draw)}e{draw.choice((-12, -1, 0, 1, scale))}"


class Model:
    """A file, evidence beside it, and the truth. `entries` are texts of numbers, or of logarithms where is_log says."""

    def __init__(self, draw):
        self.draw = draw
        self.states = [draw.randint(1, 4) for _ in range(draw.randint(1, 6))]
        self.format = draw.choice(("uai", "uai", "uai", "json", "json", "bif", "program"))
        # Many factors, whose roundings add up, and few zeros, so that something is possible.
        self.num_factors, self.zeros = (draw.randint(1, 7), 0.15) if draw.random() < 0.9 else (50, 0.002)
        getattr(self, f"make_{self.format}")()
        num_observed = draw.choice((0, 0, 1, 2))
        observed = draw.sample(range(len(self.states)), min(num_observed, len(self.states)))
        self.evidence = {v: draw.randrange(self.states[v]) for v in observed}
        pairs = " ".join(f"{v} {state}" for v, state in self.evidence.items())
        write("observed.evid", f"{len(self.evidence)} {pairs}\n")

    def size(self, scope):
        size = 1
        for v in scope:
            size *= self.states[v]
        return size

    def add_tables(self, entry):
        variables = range(len(self.states))
        self.scopes = [self.draw.sample(variables, self.draw.randint(0, min(3, len(variables))))
                       for _ in range(self.num_factors)]
        self.entries = [[entry() for _ in range(self.size(scope))] for scope in self.scopes]
        self.is_log = [False] * len(self.scopes)

    def make_uai(self):
        kind = self.draw.choice(("mixed", "mixed", "far", "near", "unit", "huge"))
        self.add_tables(lambda: number(self.draw, kind, self.zeros))
        scopes = "".join(f"{len(scope)} {' '.join(map(str, scope))}\n" for scope in self.scopes)
        tables = "".join(f"\n{len(table)}\n{' '.join(table)}\n" for table in self.entries)
        self.file = "model.uai"
        states = " ".join(map(str, self.states))
        write(self.file, f"MARKOV\n{len(self.states)}\n{states}\n{len(self.scopes)}\n{scopes}{tables}")

    def make_json(self, programs="{}", more=()):
        kind = self.draw.choice(("double", "unit", "near", "log"))
        scale = self.draw.choice((2, 3, 6, 12))
        self.add_tables(lambda: log_number(self.draw, scale, self.zeros) if kind == "log" else
                        number(self.draw, kind, self.zeros))
        self.is_log = [kind == "log"] * len(self.scopes)
        self.file = "model.json"
        name = "log_values" if kind == "log" else "values"
        factors = [f'{{"scope": {names(scope)}, "{name}": [{", ".join(map(quoted, table))}]}}'
                   for scope, table in zip(self.scopes, self.entries)]
        variables = ", ".join(f'{{"name": "v{v}", "states": {k}}}' for v, k in enumerate(self.states))
        factors = ", ".join([*factors, *more])
        write(self.file, f'{{"variables": [{variables}], "programs": {programs}, "factors": [{factors}]}}')

    def make_program(self):
        """Tables and one program, which knows its values from a file; sometimes with a maximum."""
        scope = self.draw.sample(range(len(self.states)), min(3, len(self.states)))
        values = ["-inf" if self.draw.random() < 0.1 else repr(self.draw.gauss(0, self.draw.choice((1, 300))))
                  for _ in range(self.size(scope))]
        indices = itertools.product(*[range(self.states[v]) for v in scope])
        write("values.json", json.dumps({str(list(index)): value if value == "-inf" else float(value)
                                         for index, value in zip(indices, values)}))
        write("program.py", PROGRAM_TEXT)
        largest = max([float(value) for value in values])
        log_max = f', "log_max": {largest + self.draw.choice((0, 1))!r}' if largest > float("-inf") else ""
        self.has_maximum = log_max != "" and self.draw.random() < 0.5
        command = json.dumps({"p": {"command": [sys.executable, "-I", "-S", "program.py"]}})
        fields = f'"scope": {names(scope)}{log_max * self.has_maximum}'
        self.make_json(command, [f'{{"name": "f", "program": "p", {fields}}}'])
        self.scopes.append(scope)
        self.entries.append(values)
        self.is_log.append(True)

    def make_bif(self):
        """A network whose rows are decimals that need not add up to 1, as in published ones."""
        kind = self.draw.choice(("unit", "near", "mixed"))
        self.scopes, self.entries, text = [], [], "network n { }\n"
        for v, k in enumerate(self.states):
            text += f"variable v{v} {{ type discrete [ {k} ] {{ {', '.join(f's{a}' for a in range(k))} }}; }}\n"
        for v, k in enumerate(self.states):
            parents = self.draw.sample(range(v), self.draw.randint(0, min(2, v)))
            rows = []
            for index in itertools.product(*[range(self.states[u]) for u in parents]):
                row = [number(self.draw, kind) for _ in range(k)]
                rows.append((f"({', '.join(f's{a}' for a in index)})" if parents else "table", row))
            bar = f" | {', '.join(f'v{u}' for u in parents)}" if parents else ""
            lines = "\n".join(f"  {start} {', '.join(row)};" for start, row in rows)
            text += f"probability ( v{v}{bar} ) {{\n{lines}\n}}\n"
            self.scopes.append([*parents, v])
            self.entries.append([entry for _, row in rows for entry in row])
        self.is_log = [False] * len(self.scopes)
        self.file = "model.bif"
        write(self.file, text)

    def enumerate(self):
        """Weights of all possible configurations that agree with the evidence; sums of |log-values| beside them."""
        tables, magnitudes = [], []
        for table, is_log in zip(self.entries, self.is_log):
            tables.append([exp(entry) if is_log else Decimal(entry) for entry in table])
            magnitudes.append(max([abs(log(weight)) for weight in tables[-1] if weight > 0], default=Decimal(0)))
        self.magnitude = sum(magnitudes, Decimal(1))
        self.weights = {}
        ranges = [[self.evidence[v]] if v in self.evidence else range(k) for v, k in enumerate(self.states)]
        for x in itertools.product(*ranges):
            weight = Decimal(1)
            for scope, table in zip(self.scopes, tables):
                index = 0
                for v in scope:
                    index = index * self.states[v] + x[v]
                weight *= table[index]
                if weight == 0:
                    break
            if weight > 0:
                self.weights[x] = weight
        self.total = sum(self.weights.values(), Decimal(0))
        self.log_z = log(self.total)

    def marginal(self, v, state):
        return sum((weight for x, weight in self.weights.items() if x[v] == state), Decimal(0)) / self.total


def names(scope):
    return json.dumps([f"v{v}" for v in scope])


def quoted(entry):
    return '"-inf"' if entry == "-inf" else entry


def exp(text):
    return Decimal(0) if text == "-inf" else Decimal(text).exp()


def log(weight):
    return weight.ln() if weight > 0 else MINUS_INF


def decimal(value, if_none=MINUS_INF):
    return if_none if value is None else Decimal(str(value)) if isinstance(value, str) else Decimal(value)


def draw_options(draw, model):
    """How to ask: any rule, space, order and leaf value, with or without a budget."""
    options = ["--importance", draw.choice(("0", "50")), "--samples", draw.choice(("0", "3")),
               "--seed", str(draw.randint(0, 9))]
    if draw.random() < 0.2:
        options += ["--no-simplify"]
    if draw.random() < 0.1:
        return options
    if draw.random() < 0.15 and model.format != "program":
        return [*options, "--method", "exact"]
    rule = draw.choice(("gap", "mass", "q-uct"))
    if rule == "gap" and model.format == "program" and not model.has_maximum:
        rule = "mass"
    prior = {"gap": ("uniform", "mini-bucket:1", "mini-bucket"), "mass": ("uniform", "calibrated"),
             "q-uct": ("uniform", "mini-bucket:1")}[rule]
    if model.format == "program":
        prior = prior[:1]
    options += ["--select", rule, "--leaf", draw.choice(prior), "--space", draw.choice(("tree", "graph", "andor")),
                "--order", draw.choice(("given", "degree", "min-fill", "min-width"))]
    if draw.random() < 0.5:
        options += ["--budget", str(draw.choice((0, 1, 3, 7, 20, 60)))]
    if draw.random() < 0.3:
        options += ["--trace", "trace.csv"]
    if rule == "gap" and draw.random() < 0.2:
        options += ["--sampler", draw.choice(("upper", "rejection")), "--max-tries", "1000"]
    return options


def check_log_z(answer, model, what):
    z = answer["log_z"]
    lower, upper, estimate = decimal(z["lower"]), decimal(z["upper"], Decimal("Infinity")), decimal(z["estimate"])
    check(lower <= model.log_z <= upper, f"{what}: bounds", f"{lower} {model.log_z} {upper}")
    check(lower <= estimate <= upper, f"{what}: the estimate is within them", f"{lower} {estimate} {upper}")
    is_known = lower == upper or upper - lower <= TOLERANCE * (1 + UNIT)
    check(not z["exact"] or is_known, f"{what}: exact", f"{lower} {upper}")
    if z["interval"] is not None:
        ends = [decimal(z["interval"][name]) for name in ("lower", "upper")]
        check(lower <= ends[0] <= ends[1] <= upper, f"{what}: the interval", f"{lower} {ends} {upper}")


def check_trace(model, what):
    with open("trace.csv") as file:
        rows = [line.split(",") for line in file.read().splitlines()[1:]]
    for row in rows:
        lower, upper = (Decimal(row[column] or default) for column, default in ((2, "-Infinity"), (3, "Infinity")))
        check(lower <= model.log_z <= upper, f"{what}: a row of the trace", f"{row} {model.log_z}")


def check_text(answer, text, what):
    """Few digits, rounded outward: the words of the summary are certified too."""
    z = answer["log_z"]
    width = None if z["lower"] in (None, "-inf") or z["upper"] is None else decimal(z["upper"]) - decimal(z["lower"])
    for pattern, value, sign in ((r"certified: at least", z["lower"], -1),
                                 (r"certified: at least.*, at most", z["upper"], 1),
                                 (r"log Z .*exact .certified to", width, 1),
                                 (r"certified to be at most", answer["sampler_divergence"], 1),
                                 (r"optimal .certified to", answer["best"] and answer["best"]["gap"], 1)):
        found = re.search(rf"{pattern} (-?[0-9][0-9.e+-]*)", text)
        if found and value is not None:
            check(sign * (Decimal(found[1]) - decimal(value)) >= 0, f"{what}: the text", f"{found[0]} {value}")


def check_density(configuration, model, what):
    weight = model.weights.get(tuple(configuration["x"]), Decimal(0))
    if check(weight > 0, f"{what} is possible", f"{configuration}"):
        difference = abs(decimal(configuration.get("log_density", log(weight))) - log(weight))
        allowed = UNIT * 2 * (len(model.scopes) + 2) * model.magnitude
        check(difference <= allowed, f"{what}: its density", f"{configuration} {log(weight)} {allowed}")
    return weight


def check_answer(answer, model, what):
    check_log_z(answer, model, what)
    if answer["log_z"]["exact"] and not model.weights:
        check(not answer["samples"] and answer["best"] is None, f"{what}: nothing is possible", f"{answer}")
    for sample in answer["samples"] if answer["log_z"]["exact"] else []:
        check_density(sample, model, f"{what}: a sample")
    best = answer["best"]
    if best is not None:
        weight = check_density(best, model, f"{what}: the best")
        if best["optimal"] and weight > 0:
            lost = log(max(model.weights.values())) - log(weight)
            # Larger densities cannot be told more precisely than by some units in the last place.
            most = min(1e-6, max(1e-9, 64 * 2.0**-52 * abs(float(best["log_density"]))))
            check(lost <= decimal(best["gap"]) <= decimal(most), f"{what}: optimal", f"{best} {lost}")
    if answer["marginals_from"] == "exact" and model.weights:
        for v, row in enumerate(answer["marginals"].values()):
            for state, value in enumerate(row.values()):
                difference = abs(decimal(value) - model.marginal(v, state))
                check(difference <= TOLERANCE, f"{what}: marginal {v} {state}", f"{value} {difference}")


def ask(model, options, what, counts):
    done = run("infer", model.file, "--evidence", "observed.evid", "--quiet", "--json", "answer.json", *options,
               env={**os.environ, "TREESAMPLE_ALLOW_PROGRAMS": "1"})
    what = f"{what} {' '.join(options)}"
    counts["runs"] += 1
    # Beyond the range of the numbers there is an error instead of an answer.
    if done.returncode == 65 and model.magnitude > 1e7 and ("numbers" in done.stderr or "beyond" in done.stderr):
        counts["refused"] += 1
        return
    if not check(done.returncode == 0, f"{what}: exit code", f"{done.returncode} {done.stderr}"):
        return
    answer = read_json("answer.json")
    counts["exact"] += answer["log_z"]["exact"]
    counts["optimal"] += bool(answer["best"] and answer["best"]["optimal"])
    check_answer(answer, model, what)
    check_text(answer, done.stdout, what)
    if "--trace" in options:
        check_trace(model, what)


def main():
    counts = {"runs": 0, "exact": 0, "optimal": 0, "refused": 0}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        os.chdir(folder)
        for index in range(NUM_MODELS):
            # A model can be made again alone, for a debugger: each has a seed of its own.
            model = Model(random.Random(f"{SEED} {index}"))
            model.enumerate()
            for _ in range(RUNS_PER_MODEL):
                ask(model, draw_options(model.draw, model), f"model {index} of seed {SEED} ({model.file})", counts)
        os.chdir("/")
    print(f"{NUM_MODELS} models, seed {SEED}: {', '.join(f'{count} {name}' for name, count in counts.items())}")
    check(counts["exact"] > counts["runs"] / 4 and counts["optimal"] > 0, "the test says something", f"{counts}")
    finish()


if __name__ == "__main__":
    main()
