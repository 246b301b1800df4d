// The process between treesample and a Python file that builds objects: it speaks the protocol, so that the file need
// not. Its argument is the file. Lists in states become tuples.
#pragma once

namespace treesample {

inline constexpr const char* kProcessServer = R"python(
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

def frozen(state):
    return tuple(map(frozen, state)) if isinstance(state, list) else state

requests.readline()
try:
    sys.path.insert(0, os.path.dirname(file))
    spec = importlib.util.spec_from_file_location("program", file)
    if spec is None:
        raise ImportError(f"{path} is no Python file: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["program"] = module
    spec.loader.exec_module(module)
    for name in ("start", "actions", "is_end"):
        if not callable(getattr(module, name, None)):
            raise NameError(f"{path} has no function '{name}'")
    optional = ("reward", "upper", "value", "log_paths", "encode")
    defines = [name for name in optional if callable(getattr(module, name, None))]
    objects = getattr(module, "objects", "paths" if "log_paths" in defines else "ends")
    hello = {"ready": True, "start": module.start(), "objects": objects, "defines": defines}
except BaseException as error:
    say({"error": text(error)})
    sys.exit(1)
say(hello)

def look(state):
    state = frozen(state)
    is_end = bool(module.is_end(state))
    seen = {"end": True} if is_end else {"actions": [list(action) for action in module.actions(state)]}
    for name in ("upper", "value") + (("log_paths", "encode") if is_end else ()):
        if name in defines:
            value = getattr(module, name)(state)
            seen[name] = [int(number) for number in value] if name == "encode" else float(value)
    return seen

for line in requests:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        if "look" in request:
            answer["states"] = [look(state) for state in request["look"]]
        else:
            answer["log_rewards"] = [float(module.reward(frozen(state))) for state in request["reward"]]
    except Exception as error:
        answer["error"] = text(error)
    say(answer)
)python";

}  // namespace treesample
