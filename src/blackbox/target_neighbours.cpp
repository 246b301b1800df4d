// Guesses at all configurations that differ from one in a single variable, which an ascent or a walk asks for.
#include <algorithm>
#include <utility>

#include "blackbox/learned_target.hpp"

namespace treesample {

// `ask` gives the values of one function at all configurations of its own that differ in one variable at most.
template <typename Ask>
void LearnedTarget::sum_neighbours(std::span<const int> x, std::span<double> out, const Ask& ask) const {
  std::vector<std::size_t> first;
  std::size_t count = 0;
  Assignment other(x.begin(), x.end());
  for (std::size_t v = 0; v < x.size(); ++v) {
    first.push_back(count);
    for (other[v] = 0; other[v] < domain_.num_states[v]; ++other[v]) out[count++] = tables_.log_density(other);
    other[v] = x[v];
  }
  std::vector<int> states;
  std::vector<double> own;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    states_of(part, x, states);
    std::size_t size = 0;
    for (const int num_states : part.surrogate->domain().num_states) size += static_cast<std::size_t>(num_states);
    own.assign(size, 0.0);
    ask(k, states, own);
    part.possibility->add_log_neighbours(states, own);
    if (own.empty()) continue;
    const double here = own[static_cast<std::size_t>(states[0])];  // the others' variables do not change it
    for (double& value : out) value += here;
    std::size_t place = 0;
    for (const int v : part.scope) {
      for (int a = 0; a < domain_.num_states[v]; ++a) {
        out[first[static_cast<std::size_t>(v)] + static_cast<std::size_t>(a)] += own[place++] - here;
      }
    }
  }
}

void LearnedTarget::predict_neighbours(std::span<const int> x, std::span<double> means) const {
  sum_neighbours(x, means, [&](std::size_t k, const std::vector<int>& states, std::vector<double>& own) {
    parts_[k].surrogate->predict_neighbours(states, own);
  });
}

class LearnedTarget::Drawn final : public DrawnFunction {
 public:
  Drawn(const LearnedTarget& target, Random& random) : DrawnFunction(target.domain().num_states), target_(target) {
    for (const Part& part : target.parts_) functions_.push_back(part.surrogate->draw(random));
  }

  void values(std::span<const int> rows, std::span<double> out) const override {
    const std::size_t width = num_states().size();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = target_.tables_alone(rows.subspan(i * width, width));
    std::vector<int> own;
    std::vector<double> drawn(out.size());
    for (std::size_t k = 0; k < functions_.size(); ++k) {
      const Part& part = target_.parts_[k];
      own.clear();
      for (std::size_t i = 0; i < out.size(); ++i) {
        for (const int v : part.scope) own.push_back(rows[i * width + static_cast<std::size_t>(v)]);
      }
      functions_[k]->values(own, drawn);
      part.possibility->add_log(own, drawn);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += drawn[i];
    }
  }
  void neighbours(std::span<const int> x, std::span<double> out) const override {
    target_.sum_neighbours(x, out, [&](std::size_t k, const std::vector<int>& states, std::vector<double>& own) {
      functions_[k]->neighbours(states, own);
    });
  }

 private:
  const LearnedTarget& target_;
  std::vector<std::unique_ptr<DrawnFunction>> functions_;
};

std::unique_ptr<DrawnFunction> LearnedTarget::draw(Random& random) const {
  return std::make_unique<Drawn>(*this, random);
}

}  // namespace treesample
