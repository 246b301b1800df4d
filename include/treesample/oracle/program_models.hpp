// Models that a program makes, from which `train --generator PROGRAM` learns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Runs `program NUMBER` for each model and reads its standard output, a model in any format of io/model_file.hpp. A
// file that ends in .py is run by python3. Throws kIo at once if there is no such program. The result throws kIo,
// naming program and number, if the program fails, prints nothing for a minute, or prints no model. Several threads may
// call the result at once.
std::function<FactorGraph(std::uint64_t number)> program_models(const std::string& program);

}  // namespace treesample
