// What the option `noise` says of the values of functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "infer/run.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/model/noise.hpp"

namespace treesample {

struct NoiseOption {
  Noise noise = {};
  bool is_looked_for = true;
};

// From look, no, yes, or a standard deviation; nothing said is look. Throws OptionError.
NoiseOption parse_noise(std::string_view text);
inline NoiseOption noise_of(const std::optional<std::string>& text) { return parse_noise(text.value_or("look")); }
// Whether a value is evaluated again to see that it is the same; workers elsewhere answer each question once.
bool looks_for_noise(const InferOptions& options, const FactorGraph& graph);

// Throws OptionError where noise is declared and the method would certify what one reading of each value says.
void check_declared_noise(const InferOptions& options, const FactorGraph& graph);
// By what densities may be off because evidence decides functions: each is one reading, which with declared noise may
// be any number.
double error_of_decided(std::int64_t num_values, const InferOptions& options, const Run& run);

}  // namespace treesample
