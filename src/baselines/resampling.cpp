#include "treesample/baselines/resampling.hpp"

#include <cmath>
#include <numeric>

namespace treesample {
namespace {

// The ordered points of a scheme in [0, 1], one after the other.
class OrderedPoints {
 public:
  OrderedPoints(ResamplingScheme scheme, std::size_t count, Random& random)
      : scheme_(scheme), count_(static_cast<double>(count)), random_(random), shift_(random.uniform()) {}

  // The j-th point; called for j = 0, 1, ... once each.
  double next(std::size_t j) {
    const auto index = static_cast<double>(j);
    switch (scheme_) {
      case ResamplingScheme::kMultinomial:
        // The smallest of k uniform points above `last` is 1 - (1 - last) u^(1/k).
        last_ = 1.0 - (1.0 - last_) * std::exp(std::log1p(-random_.uniform()) / (count_ - index));
        return last_;
      case ResamplingScheme::kStratified:
        return (index + random_.uniform()) / count_;
      case ResamplingScheme::kSystematic:
        return (index + shift_) / count_;
    }
    return 0.0;
  }

 private:
  ResamplingScheme scheme_;
  double count_;
  Random& random_;
  double shift_;
  double last_ = 0.0;
};

}  // namespace

const char* to_string(ResamplingScheme scheme) {
  switch (scheme) {
    case ResamplingScheme::kMultinomial:
      return "multinomial";
    case ResamplingScheme::kStratified:
      return "stratified";
    case ResamplingScheme::kSystematic:
      return "systematic";
  }
  return "";
}

void resample(ResamplingScheme scheme, std::span<const double> weights, std::span<int> parents, Random& random) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  // Rounding can put the last point above the sum of the weights; it then belongs to the last positive weight.
  std::size_t last = weights.size() - 1;
  while (weights[last] == 0.0) --last;
  OrderedPoints points(scheme, parents.size(), random);
  std::size_t parent = 0;
  double cumulative = weights[0];
  for (std::size_t j = 0; j < parents.size(); ++j) {
    const double point = points.next(j) * total;
    while (point >= cumulative && parent < last) cumulative += weights[++parent];
    parents[j] = static_cast<int>(parent);
  }
}

}  // namespace treesample
