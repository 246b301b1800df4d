// A value function (value/function_value.hpp) that is computed by a separate program, for `infer --leaf program:FILE`.
//
// FILE.py has a function leaf(variable, prefixes), like the one that Python's infer(leaf=...) takes. Any other file
// is run as a program and speaks the protocol of programs (docs/model_file.md) with the messages of
// docs/methods/networks.md.
#pragma once

#include <string>

#include "treesample/stop.hpp"
#include "treesample/value/function_value.hpp"

namespace treesample {

// Starts the program at the first call. Throws kIo at once if there is no such file. The result throws kIo, naming the
// file, for faults of the program. When `should_stop` asks it to end, open questions are answered as if nothing were
// known. Only one thread at a time may call the result.
ValueFunction program_value(const std::string& file, const FactorGraph& graph, const ShouldStop& should_stop = {});

}  // namespace treesample
