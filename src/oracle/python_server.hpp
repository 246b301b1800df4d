// The programs between treesample and a Python file of functions: they speak the protocol, so that the file need not.
// Each is kPythonStart and what follows it, and its argument is the file.
#pragma once

namespace treesample {

// Reads the first line, `hello`, and has say(line), text(error) and load(module name).
inline constexpr const char* kPythonStart = R"python(
import importlib.util, json, math, os, sys, traceback
requests = os.fdopen(os.dup(0))
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)  # what functions print goes to the log, line by line
sys.stdout.reconfigure(line_buffering=True)
path = sys.argv[1]
file = os.path.abspath(path)

def say(line):
    answers.write(json.dumps(line) + "\n")
    answers.flush()

def text(error):
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if os.path.abspath(frame.filename) == file]
    return f"{type(error).__name__}: {error}" + (f" ({path}, line {lines[-1]})" if lines else "")

def load(name):
    sys.path.insert(0, os.path.dirname(file))
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise ImportError(f"{path} is no Python file: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module

hello = json.loads(requests.readline())
)python";

// Factors ("python" in a model file). A factor is the function of its name, called with its variables as keywords. If
// the file also has a function NAME_batch, that one gets whole batches, a list of such sets of keywords, and returns as
// many values. If it cannot compute a batch, the assignments are computed one by one, so that an error belongs to one
// assignment. If the first line has variables instead of factors, the program serves a value function
// (treesample/oracle/program_value.hpp): leaf(variable, prefixes), called once for all states of the variable.
inline constexpr const char* kFactorServer = R"python(
factors = hello.get("factors", [])
open_variables = {variable["name"]: (i, variable["states"]) for i, variable in enumerate(hello.get("variables", []))}
try:
    module = load("factors")
    functions = {}
    for factor in factors:
        function = getattr(module, factor["name"], None)
        if not callable(function):
            raise NameError(f"{path} has no function '{factor['name']}'")
        batch = getattr(module, factor["name"] + "_batch", None)
        functions[factor["name"]] = (function, batch if callable(batch) else None, factor["variables"])
    leaf = getattr(module, "leaf", getattr(module, "prior", None))  # `prior` in earlier versions
    if open_variables and not callable(leaf):
        raise NameError(f"{path} has no function 'leaf'")
except BaseException as error:
    say({"error": text(error)})
    sys.exit(1)
say({"ready": True})

def keywords(variables, assignment):
    states = {}
    for variable, state in zip(variables, assignment):
        names = variable["states"]
        states[variable["name"]] = names[state] if isinstance(names, list) else state
    return states

def number(name, value):
    if isinstance(value, tuple) and len(value) == 2:  # with a witness: names of variables, or None
        witness = None if value[1] is None else [str(variable) for variable in value[1]]
        return {"log_value": number(name, value[0]), "witness": witness}
    if value is None:
        raise TypeError(f"{name}() returned None, not a number")
    value = float(value)
    return "-inf" if value == -math.inf else value

def one(name, function, states):
    try:
        return number(name, function(**states))
    except Exception as error:
        return {"error": text(error)}

def log_values(name, assignments):
    function, batch, variables = functions[name]
    all_states = [keywords(variables, assignment) for assignment in assignments]
    if batch is not None and len(all_states) > 1:
        try:
            values = [number(name + "_batch", value) for value in batch(all_states)]
            if len(values) != len(all_states):
                raise ValueError(f"{name}_batch() returned {len(values)} values for {len(all_states)} assignments")
            return values
        except Exception as error:
            print(text(error), file=sys.stderr, flush=True)
    return [one(name, function, states) for states in all_states]

def q_values(name, rows):
    place, states = open_variables[name]
    size = len(states) if isinstance(states, list) else states
    prefixes = [row[:place] + [-1] + row[place + 1:] for row in rows[::size]]
    returned = [list(row) for row in leaf(name, prefixes)]
    if [len(row) for row in returned] != [size] * len(prefixes):
        raise ValueError(f"leaf() must return {len(prefixes)} rows of {size} numbers")
    return [number("leaf", value) for row in returned for value in row]

for line in requests:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        answer["log_values"] = (q_values if open_variables else log_values)(request["factor"], request["assignments"])
    except Exception as error:
        answer["error"] = text(error)
    say(answer)
)python";

}  // namespace treesample
