#include "blackbox/learned_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

LearnedTarget::LearnedTarget(FactorGraph graph, const std::vector<std::vector<double>>& levels,
                             const MakeSurrogate& make)
    : graph_(std::move(graph)) {
  for (int v = 0; v < graph_.num_variables(); ++v) {
    domain_.num_states.push_back(graph_.num_states(v));
    tables_.add_variable(graph_.num_states(v));
  }
  domain_.levels = levels;
  domain_.validate();
  for (int m = 0; m < graph_.num_factors(); ++m) {
    const Factor& factor = graph_.factor(m);
    if (factor.is_table()) {
      tables_.add_factor(factor);
      continue;
    }
    Domain own;
    for (const int v : factor.scope()) {
      own.num_states.push_back(domain_.num_states[v]);
      if (!levels.empty()) own.levels.push_back(levels[v]);
    }
    parts_.push_back({.factor = m, .scope = factor.scope(), .told = {.width = own.width()}, .surrogate = make(own)});
  }
  check_argument(!parts_.empty(), "BlackBox", "the model has no function to learn");
  tells_tables_ =
      tables_.num_factors() > 0 && parts_.size() == 1 && std::ssize(parts_.front().scope) == graph_.num_variables();
}

std::vector<int> LearnedTarget::functions() const {
  std::vector<int> result;
  for (const Part& part : parts_) result.push_back(part.factor);
  return result;
}

LearnedTarget::Part& LearnedTarget::part_of(int function) {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.factor == function; });
  check_argument(found != parts_.end(), "BlackBox::tell", fmt::format("factor {} is not a function", function));
  return *found;
}

// Of a function of all variables.
Assignment LearnedTarget::whole(const Part& part, std::span<const int> states) const {
  Assignment x(part.scope.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[static_cast<std::size_t>(part.scope[i])] = states[i];
  return x;
}

void LearnedTarget::tell(int function, std::span<const int> states, double value) {
  Part& part = part_of(function);
  part.surrogate->domain().check(states);
  if (!is_log_value(value)) {
    throw Error(ErrorCode::kNumeric,
                fmt::format("BlackBox::tell: the value is {}, allowed are numbers and -inf", value));
  }
  part.told.states.insert(part.told.states.end(), states.begin(), states.end());
  part.told.values.push_back(value);
  if (tells_tables_) part.told.known.push_back(tables_.log_density(whole(part, states)));
  part.places[key(states)].push_back(part.told.size() - 1);
  if (part.is_fitted) part.surrogate->add(states, value);
}

void LearnedTarget::tell_failed(int function, std::span<const int> states) {
  Part& part = part_of(function);
  part.surrogate->domain().check(states);
  part.failed.insert(key(states));
}

std::optional<double> LearnedTarget::value_at(const Part& part, std::span<const int> states) {
  if (part.failed.contains(key(states))) return kNegInf;
  const auto found = part.places.find(key(states));
  if (found == part.places.end()) return {};
  double sum = 0.0;
  for (const std::size_t place : found->second) sum += part.told.values[place];
  return sum / static_cast<double>(found->second.size());
}

void LearnedTarget::states_of(const Part& part, std::span<const int> x, std::vector<int>& states) const {
  states.clear();
  for (const int v : part.scope) states.push_back(x[static_cast<std::size_t>(v)]);
}

std::optional<double> LearnedTarget::known(std::span<const int> x) const {
  double sum = tables_.log_density(x);
  bool is_known = true;
  std::vector<int> states;
  for (const Part& part : parts_) {
    if (sum == kNegInf) return kNegInf;
    states_of(part, x, states);
    const std::optional<double> value = value_at(part, states);
    is_known = is_known && value;
    if (value) sum += *value;
  }
  if (sum == kNegInf) return kNegInf;
  return is_known ? std::optional(sum) : std::nullopt;
}

std::optional<double> LearnedTarget::noise_variance() const {
  double squares = 0.0, freedom = 0.0;
  for (const Part& part : parts_) {
    for (const auto& [states, places] : part.places) {
      if (places.size() < 2) continue;
      double mean = 0.0;
      for (const std::size_t place : places) mean += part.told.values[place] / static_cast<double>(places.size());
      if (!std::isfinite(mean)) continue;
      for (const std::size_t place : places) squares += std::pow(part.told.values[place] - mean, 2);
      freedom += static_cast<double>(places.size()) - 1.0;
    }
  }
  return squares > 0.0 ? std::optional(squares / freedom) : std::nullopt;
}

void LearnedTarget::fit(const ShouldStop& should_stop) {
  for (Part& part : parts_) {
    if (part.told.size() == 0 || (part.is_fitted && part.num_learned == part.told.size())) continue;
    part.surrogate->fit(part.told, should_stop);
    part.num_learned = part.told.size();
    part.is_fitted = true;
  }
}

void LearnedTarget::predict(std::span<const int> rows, std::span<Prediction> out) const {
  const auto width = static_cast<std::size_t>(graph_.num_variables());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {tables_.log_density(rows.subspan(i * width, width)), 0.0};
  std::vector<int> own, states;
  std::vector<Prediction> predicted(out.size());
  for (const Part& part : parts_) {
    own.clear();
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (const int v : part.scope) own.push_back(rows[i * width + static_cast<std::size_t>(v)]);
    }
    part.surrogate->predict(own, predicted);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].mean += predicted[i].mean;
      out[i].sd = std::hypot(out[i].sd, predicted[i].sd);
    }
  }
}

void LearnedTarget::add_means(std::span<double> means) const {
  const auto width = static_cast<std::size_t>(graph_.num_variables());
  std::vector<double> own;
  for (const Part& part : parts_) {
    // The place in the function's own domain moves by one stride for each variable of its scope.
    std::vector<std::size_t> strides(width, 0);
    std::size_t size = 1;
    for (std::size_t i = part.scope.size(); i-- > 0;) {
      strides[static_cast<std::size_t>(part.scope[i])] = size;
      size *= static_cast<std::size_t>(domain_.num_states[part.scope[i]]);
    }
    own.resize(size);
    part.surrogate->predict_all(own);
    Assignment x(width, 0);
    std::size_t place = 0;
    for (double& mean : means) {
      mean += own[place];
      for (std::size_t v = width; v-- > 0;) {
        place += strides[v];
        if (++x[v] < domain_.num_states[v]) break;
        place -= strides[v] * static_cast<std::size_t>(domain_.num_states[v]);
        x[v] = 0;
      }
    }
  }
}

}  // namespace treesample
