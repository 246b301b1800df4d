// Small domains, configurations and values for tests of black boxes.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "treesample/blackbox/domain.hpp"
#include "treesample/blackbox/surrogate.hpp"
#include "treesample/math/random.hpp"

namespace treesample::testing {

using BlackBoxFunction = std::function<double(std::span<const int>)>;

inline std::vector<int> random_rows(const Domain& domain, int count, std::uint64_t seed) {
  Random random(seed, "rows");
  std::vector<int> rows;
  for (int i = 0; i < count; ++i) {
    for (const int k : domain.num_states) rows.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(k))));
  }
  return rows;
}

// All configurations, the last variable changing fastest.
inline std::vector<int> all_rows(const Domain& domain) {
  std::vector<int> rows, x(domain.num_states.size(), 0);
  for (double i = 0; i < domain.num_configurations(); ++i) {
    rows.insert(rows.end(), x.begin(), x.end());
    for (std::size_t v = x.size(); v-- > 0;) {
      if (++x[v] < domain.num_states[v]) break;
      x[v] = 0;
    }
  }
  return rows;
}

inline ToldValues told_at(const Domain& domain, const std::vector<int>& rows, const BlackBoxFunction& function) {
  ToldValues told{.width = domain.width()};
  const auto width = domain.num_states.size();
  for (std::size_t i = 0; i < rows.size(); i += width) {
    const std::span<const int> x(rows.data() + i, width);
    told.add(domain, x, function(x));
  }
  return told;
}

inline std::vector<Prediction> predictions(const Surrogate& surrogate, std::span<const int> rows) {
  std::vector<Prediction> out(rows.size() / surrogate.domain().num_states.size());
  surrogate.predict(rows, out);
  return out;
}

}  // namespace treesample::testing
