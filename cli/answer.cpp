#include "answer.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "treesample/io/json_writer.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample::cli {

double seconds_to_show_samples(const std::vector<Assignment>& samples, const FactorGraph& graph, bool as_text,
                               bool as_json) {
  constexpr std::size_t kMostTried = 256;
  // The samples of a trial stay in the cache; all samples together do not.
  constexpr double kSlower = 3.0;
  constexpr double kNumber = 12.345678901234567;  // as long as most
  const std::size_t num_tried = std::min(samples.size(), kMostTried);
  if (num_tried == 0) return 0.0;
  const std::clock_t start = std::clock();
  std::string text;
  JsonWriter rows(1);
  for (std::size_t i = samples.size() - num_tried; i < samples.size(); ++i) {
    if (as_text) text += sample_text(graph, samples[i]);
    if (!as_json) continue;
    rows.numbers(samples[i]);
    rows.numbers(std::array{kNumber, -kNumber});
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return kSlower * seconds * static_cast<double>(samples.size()) / static_cast<double>(num_tried);
}

}  // namespace treesample::cli
