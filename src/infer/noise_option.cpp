#include "infer/noise_option.hpp"

#include <fmt/format.h>

#include <cmath>

#include "treesample/error.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {

NoiseOption parse_noise(std::string_view text) {
  if (text == "look") return {};
  if (text == "no") return {{}, false};
  if (text == "yes") return {{.is_there = true}, false};
  const std::optional<double> sd = parse_real(text);
  if (!sd || !(*sd > 0.0) || std::isinf(*sd)) {
    throw OptionError("noise", fmt::format("is '{}', allowed are look, no, yes and a standard deviation above 0",
                                           shortened(text, 100)));
  }
  return {{true, sd}, false};
}

bool looks_for_noise(const InferOptions& options, const FactorGraph& graph) {
  const EvaluationQueue* const queue = graph.evaluation_queue();
  return noise_of(options.noise).is_looked_for && (queue == nullptr || queue->can_repeat());
}

}  // namespace treesample
