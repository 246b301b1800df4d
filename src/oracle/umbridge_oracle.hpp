// A UM-Bridge server as an oracle: a client of protocol 1.0, see https://um-bridge-benchmarks.readthedocs.io.
#pragma once

#include <vector>

#include "oracle/oracle.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {

// The source for a program that is such a server, in a model whose factors have these scopes. Each oracle has a
// connection of its own.
OracleSource umbridge_source(const ProgramDescription& program, std::vector<std::vector<int>> scopes);

}  // namespace treesample
