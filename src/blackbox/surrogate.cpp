#include "treesample/blackbox/surrogate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/error.hpp"

namespace treesample {
namespace {

std::vector<int> rows_of_neighbours(std::span<const int> x, std::span<const int> num_states) {
  std::vector<int> rows;
  for (std::size_t v = 0; v < x.size(); ++v) {
    for (int a = 0; a < num_states[v]; ++a) {
      rows.insert(rows.end(), x.begin(), x.end());
      rows[rows.size() - x.size() + v] = a;
    }
  }
  return rows;
}

class MeanFunction final : public DrawnFunction {
 public:
  explicit MeanFunction(const Surrogate& surrogate)
      : DrawnFunction(surrogate.domain().num_states), surrogate_(surrogate) {}
  void values(std::span<const int> rows, std::span<double> out) const override { surrogate_.predict_means(rows, out); }
  void neighbours(std::span<const int> x, std::span<double> out) const override {
    surrogate_.predict_neighbours(x, out);
  }

 private:
  const Surrogate& surrogate_;
};

}  // namespace

void DrawnFunction::neighbours(std::span<const int> x, std::span<double> out) const {
  values(rows_of_neighbours(x, num_states_), out);
}

void Surrogate::check_rows(const char* function, std::span<const int> rows, std::size_t count) const {
  check_argument(rows.size() == count * domain_.num_states.size(), function,
                 fmt::format("there are {} states for {} configurations of {} variables", rows.size(), count,
                             domain_.num_states.size()));
}

void Surrogate::check_all(const char* function, std::size_t count) const {
  check_argument(static_cast<double>(count) == domain_.num_configurations(), function,
                 fmt::format("there is room for {} of {:.0f} means", count, domain_.num_configurations()));
}

void Surrogate::predict_means(std::span<const int> rows, std::span<double> means) const {
  std::vector<Prediction> predictions(means.size());
  predict(rows, predictions);
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = predictions[i].mean;
}

void Surrogate::predict_all(std::span<double> means) const {
  constexpr std::size_t kChunk = 4096;
  check_all("Surrogate::predict_all", means.size());
  const auto width = static_cast<std::size_t>(domain_.width());
  std::vector<int> x(width, 0), rows;
  for (std::size_t first = 0; first < means.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, means.size() - first);
    rows.clear();
    for (std::size_t i = 0; i < count; ++i) {
      rows.insert(rows.end(), x.begin(), x.end());
      for (std::size_t v = width; v-- > 0;) {
        if (++x[v] < domain_.num_states[v]) break;
        x[v] = 0;
      }
    }
    predict_means(rows, means.subspan(first, count));
  }
}

void Surrogate::predict_neighbours(std::span<const int> x, std::span<double> means) const {
  predict_means(rows_of_neighbours(x, domain_.num_states), means);
}

std::unique_ptr<DrawnFunction> Surrogate::draw(Random& random) const {
  static_cast<void>(random);
  return std::make_unique<MeanFunction>(*this);
}

}  // namespace treesample
