// A UM-Bridge server as an oracle: a client of protocol 1.0, see https://um-bridge-benchmarks.readthedocs.io.
#pragma once

#include "oracle/oracle.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {

// The source for one program of a model that is such a server. Each oracle has a connection of its own.
OracleSource umbridge_source(const JsonModel& model, int program);

}  // namespace treesample
