// The program between treesample and a Python file that builds objects, after kPythonStart (oracle/python_server.hpp).
// Lists in states become tuples.
#pragma once

namespace treesample {

inline constexpr const char* kObjectServer = R"python(
def frozen(state):
    return tuple(map(frozen, state)) if isinstance(state, list) else state

try:
    module = load("program")
    for name in ("start", "actions", "is_end"):
        if not callable(getattr(module, name, None)):
            raise NameError(f"{path} has no function '{name}'")
    optional = ("reward", "upper", "value", "log_paths", "encode")
    defines = [name for name in optional if callable(getattr(module, name, None))]
    objects = getattr(module, "objects", "paths" if "log_paths" in defines else "ends")
    ready = {"ready": True, "start": module.start(), "objects": objects, "defines": defines,
             "ordered": bool(getattr(module, "ordered", False))}
except BaseException as error:
    say({"error": text(error)})
    sys.exit(1)
say(ready)

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
