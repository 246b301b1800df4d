// What runs between treesample and a Python file of functions ("python" in a model file): it speaks the protocol,
// so that the file need not.
#pragma once

namespace treesample {

// Arguments: the file. A factor is the function of its name, called with its variables as keywords.
inline constexpr const char* kPythonServer = R"python(
import importlib.util, json, math, os, sys, traceback
requests = os.fdopen(os.dup(0))
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)  # what functions print goes to the log
path = sys.argv[1]
file = os.path.abspath(path)

def say(line):
    answers.write(json.dumps(line) + "\n")
    answers.flush()

def text(error):
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if os.path.abspath(frame.filename) == file]
    return f"{type(error).__name__}: {error}" + (f" ({path}, line {lines[-1]})" if lines else "")

factors = json.loads(requests.readline())["factors"]
try:
    sys.path.insert(0, os.path.dirname(file))
    spec = importlib.util.spec_from_file_location("factors", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["factors"] = module
    spec.loader.exec_module(module)
    functions = {}
    for factor in factors:
        function = getattr(module, factor["name"], None)
        if not callable(function):
            raise NameError(f"{path} has no function '{factor['name']}'")
        functions[factor["name"]] = (function, factor["variables"])
except BaseException as error:
    say({"error": text(error)})
    sys.exit(1)
say({"ready": True})

def log_value(factor, assignment):
    function, variables = functions[factor]
    states = {}
    for variable, state in zip(variables, assignment):
        names = variable["states"]
        states[variable["name"]] = names[state] if isinstance(names, list) else state
    value = function(**states)
    if value is None:
        raise TypeError(f"{factor}() returned None, not a number")
    value = float(value)
    return "-inf" if value == -math.inf else value

for line in requests:
    request = json.loads(line)
    try:
        values = [log_value(request["factor"], a) for a in request["assignments"]]
        say({"id": request["id"], "log_values": values})
    except Exception as error:
        say({"id": request["id"], "error": text(error)})
)python";

}  // namespace treesample
