// A model that is a process: it builds an object step by step, and speaks lines of JSON (docs/programs.md).
//
//   to it     {"treesample": 1, "builds": "objects"}
//   from it   {"ready": true, "start": STATE, "objects": "ends", "defines": ["reward", "upper"]}
//   to it     {"id": 1, "look": [STATE, ...]}
//   from it   {"id": 1, "states": [{"actions": [[ACTION, STATE], [ACTION, STATE, LOG_REWARD]], "upper": 3.2}, ...]}
//             an end is {"end": true}; "upper", "value", "log_paths" and "encode" where they are defined
//   to it     {"id": 2, "reward": [STATE, ...]}
//   from it   {"id": 2, "log_rewards": [-1.5, "-inf"]}
//
// States and actions are any JSON values; states are the same if they are equal as JSON. {"id": 1, "error": "..."} ends
// the run.
#pragma once

#include <filesystem>
#include <memory>

#include "treesample/io/json_model.hpp"
#include "treesample/program/program.hpp"

namespace treesample {

// Reads a description: {"format": "treesample program", "command": ["./grid", "20"]}, or "python": "grid.py" for a file
// with the functions start, actions, is_end, ...; and "timeout_seconds" of one answer. It runs nothing. The result is a
// model without variables that has this program, for those who ask for consent. Throws Error (kIo, kParse).
JsonModel read_process_program(const std::filesystem::path& path);

// Starts the process. Throws Error (kIo) for faults of the process, here and later. To be used and destroyed by the
// thread that made it.
std::unique_ptr<NumberedProgram> start_process_program(const JsonModel& model);

}  // namespace treesample
