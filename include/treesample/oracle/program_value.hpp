// A value function (value/function_value.hpp) in a program of its own: what `infer --prior program:FILE` asks.
//
// FILE.py has a function prior(variable, prefixes), the same that Python's infer(prior=...) takes; another file is run
// and speaks the protocol of programs (docs/model_file.md) with the words of docs/methods/networks.md.
#pragma once

#include <string>

#include "treesample/stop.hpp"
#include "treesample/value/function_value.hpp"

namespace treesample {

// Starts the program when it is first asked; throws kIo now if there is no such file, and later naming the file for
// what the program does wrong. When `should_stop` asks it to end, open questions are answered as if nothing were known.
// One thread may ask at a time.
ValueFunction program_value(const std::string& file, const FactorGraph& graph, const ShouldStop& should_stop = {});

}  // namespace treesample
