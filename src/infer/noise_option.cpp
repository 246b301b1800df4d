#include "infer/noise_option.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infer/words.hpp"
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

void check_declared_noise(const InferOptions& options, const FactorGraph& graph) {
  if (graph.has_only_tables() || !noise_of(options.noise).noise.is_there) return;
  for (const Method method : {Method::kTree, Method::kSearch, Method::kMonotone, Method::kFrequencies}) {
    if (options.method != method) continue;
    throw OptionError("noise", fmt::format("says that values are noisy, and method '{}' takes each for the truth: "
                                           "--method learned does not",
                                           word_for(method)));
  }
}

double error_of_decided(std::int64_t num_values, const InferOptions& options, const Run& run) {
  if (num_values == 0 || !noise_of(options.noise).noise.is_there) return 0.0;
  run.remark(fmt::format("--noise: {} of factors that evidence decides may be off by any amount",
                         counted(num_values, "value")));
  return HUGE_VAL;
}

}  // namespace treesample
