#include "blackbox/learned_target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "blackbox/choose_points.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kSame = 1e-9;           // relative difference of values that are the same but for rounding
constexpr double kMostSurprises = 0.25;  // of the known mass, that errors may be stated for
constexpr double kMostAdded = 1.4;       // values that are added one by one, relative to those of the last fit

bool is_same(double a, double b) { return a == b || std::abs(a - b) <= kSame * (1.0 + std::abs(a)); }

}  // namespace

LearnedTarget::LearnedTarget(FactorGraph graph, MakeSurrogate make, const Noise& noise)
    : make_(std::move(make)), noise_(noise), graph_(std::move(graph)) {
  for (int v = 0; v < graph_.num_variables(); ++v) {
    domain_.num_states.push_back(graph_.num_states(v));
    domain_.levels.push_back(graph_.variable(v).levels);
    tables_.add_variable(graph_.num_states(v));
  }
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
      own.levels.push_back(domain_.levels[v]);
    }
    parts_.push_back({.factor = m,
                      .scope = factor.scope(),
                      .told = {.width = own.width()},
                      .surrogate = make_(own, noise_),
                      .possibility = std::make_unique<Possibility>(own)});
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

Assignment LearnedTarget::whole(int function, std::span<const int> states) const {
  const std::vector<int>& scope = graph_.factor(function).scope();
  Assignment x(scope.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[static_cast<std::size_t>(scope[i])] = states[i];
  return x;
}

void LearnedTarget::check(int function, std::span<const int> states, double value) {
  part_of(function).surrogate->domain().check(states);
  if (is_log_value(value)) return;
  throw Error(ErrorCode::kNumeric, fmt::format("BlackBox::tell: the value is {}, allowed are numbers and -inf", value));
}

bool LearnedTarget::tell(int function, std::span<const int> states, double value, bool may_differ) {
  check(function, states, value);
  Part& part = part_of(function);
  std::vector<std::size_t>& places = part.places[key(states)];
  if (!places.empty() && !noise_.is_there) {
    const double before = part.told.values[places.front()];
    if (is_same(before, value)) return false;
    if (!may_differ) {
      throw_argument("BlackBox::tell", fmt::format("states {} were told {} before, and {} now, but noise is excluded",
                                                   fmt::join(states, " "), before, value));
    }
  }
  part.told.states.insert(part.told.states.end(), states.begin(), states.end());
  part.told.values.push_back(value);
  if (tells_tables_) part.told.known.push_back(tables_.log_density(whole(function, states)));
  places.push_back(part.told.size() - 1);
  part.has_repeats = part.has_repeats || places.size() > 1;
  // Where many come at once, the next fit takes them.
  const auto most = kMostAdded * static_cast<double>(part.num_learned) + 16.0;
  if (part.is_fitted && static_cast<double>(part.told.size()) < most) part.surrogate->add(states, value);
  return true;
}

void LearnedTarget::tell_failed(int function, std::span<const int> states) {
  check(function, states, 0.0);
  Part& part = part_of(function);
  if (!part.failed.insert(key(states)).second) return;
  part.failed_states.insert(part.failed_states.end(), states.begin(), states.end());
}

std::int64_t LearnedTarget::num_told() const {
  std::size_t most = 0;
  for (const Part& part : parts_) most = std::max(most, part.told.size() + part.failed.size());
  return static_cast<std::int64_t>(most);
}

void LearnedTarget::set_noise(const Noise& noise) {
  noise_ = noise;
  for (Part& part : parts_) {
    part.surrogate = make_(Domain(part.surrogate->domain()), noise_);
    part.is_fitted = false;
  }
}

std::optional<double> LearnedTarget::value_at(const Part& part, std::span<const int> states) {
  if (part.failed.contains(key(states))) return kNegInf;
  const auto found = part.places.find(key(states));
  if (found == part.places.end()) return {};
  double sum = 0.0;
  for (const std::size_t place : found->second) sum += part.told.values[place];
  return sum / static_cast<double>(found->second.size());
}

bool LearnedTarget::has_failed(std::span<const int> x) const {
  std::vector<int> states;
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    if (part.failed.empty()) return false;
    states_of(part, x, states);
    return part.failed.contains(key(states));
  });
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

bool LearnedTarget::is_featureless() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
    const ToldValues finite = finite_values(part.told);
    const std::vector<double>& values = finite.values.empty() ? part.told.values : finite.values;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return part.failed.empty() && least != values.end() && *least == *most;
  });
}

std::string LearnedTarget::why_no_error() const {
  if (is_featureless()) return "all values that are possible are equal, which says nothing of where others may be";
  const double surprises = surprise_share();
  if (surprises <= kMostSurprises) return {};
  return fmt::format(
      "values with {:.3g} % of the known mass were not predicted by the others, so that more of them may be unknown",
      100.0 * surprises);
}

double LearnedTarget::rounding(std::span<const int> x) const {
  double sizes = 0.0;
  for (int m = 0; m < tables_.num_factors(); ++m) sizes += std::abs(tables_.log_value(m, x));
  std::vector<int> states;
  for (const Part& part : parts_) {
    states_of(part, x, states);
    sizes += std::abs(value_at(part, states).value_or(0.0));
  }
  return std::numeric_limits<double>::epsilon() * sizes * (1.0 + graph_.num_factors());
}

std::optional<double> LearnedTarget::noise_variance() const {
  double squares = 0.0, freedom = 0.0;
  for (const Part& part : parts_) {
    if (!part.has_repeats) continue;  // which is asked after each of very many values
    for (const auto& [states, places] : part.places) {
      if (places.size() < 2) continue;
      double mean = 0.0, own = 0.0;
      for (const std::size_t place : places) mean += part.told.values[place] / static_cast<double>(places.size());
      if (!std::isfinite(mean)) continue;
      for (const std::size_t place : places) own += std::pow(part.told.values[place] - mean, 2);
      if (own > std::pow(kSame * (1.0 + std::abs(mean)), 2)) squares += own;
      freedom += static_cast<double>(places.size()) - 1.0;
    }
  }
  return squares > 0.0 ? std::optional(squares / freedom) : std::nullopt;
}

std::vector<double> LearnedTarget::impossible_guesses(const Part& part) {
  std::vector<int> rows;
  for (std::size_t i = 0; i < part.told.size(); ++i) {
    const auto row = part.told.row(i);
    if (part.told.values[i] == kNegInf) rows.insert(rows.end(), row.begin(), row.end());
  }
  rows.insert(rows.end(), part.failed_states.begin(), part.failed_states.end());
  std::vector<double> guesses(rows.size() / part.scope.size());
  part.surrogate->predict_means(rows, guesses);
  return guesses;
}

void LearnedTarget::fit(const ShouldStop& should_stop) {
  for (Part& part : parts_) {
    const std::size_t count = part.told.size() + part.failed.size();
    if (part.told.size() == 0 || (part.is_fitted && part.num_learned == count)) continue;
    part.surrogate->fit(part.told, should_stop);
    part.possibility->fit(part.told, part.failed_states, impossible_guesses(part), part.surrogate->unit(), should_stop);
    part.num_learned = count;
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
    if (!part.possibility->has_any()) continue;
    std::vector<double> chances(out.size(), 0.0);
    part.possibility->add_log(own, chances);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].mean += chances[i];
  }
}

void LearnedTarget::believe(std::span<const int> rows, std::span<double> out) const {
  const auto width = static_cast<std::size_t>(graph_.num_variables());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = tables_.log_density(rows.subspan(i * width, width));
  std::vector<int> own, states;
  std::vector<double> guessed(out.size());
  for (const Part& part : parts_) {
    own.clear();
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (const int v : part.scope) own.push_back(rows[i * width + static_cast<std::size_t>(v)]);
    }
    part.surrogate->predict_means(own, guessed);
    part.possibility->add_log(own, guessed);
    const std::size_t size = part.scope.size();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::optional<double> known = value_at(part, std::span(own).subspan(i * size, size));
      out[i] += known && (!noise_.is_there || *known == kNegInf) ? *known : guessed[i];
    }
  }
}

double LearnedTarget::noise_sd() const {
  constexpr double kUsualVariance = 0.01;  // before there are repeats
  if (!noise_.is_there) return 0.0;
  return noise_.sd.value_or(std::sqrt(noise_variance().value_or(kUsualVariance)));
}

// What is known of one function, over its own domain, after its guesses.
void LearnedTarget::add_possible(const Part& part, std::vector<double>& own,
                                 std::vector<unsigned char>& is_known) const {
  const std::vector<int>& num_states = part.surrogate->domain().num_states;
  const auto place_of = [&](const std::string& states) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < num_states.size(); ++i) {
      int state = 0;
      std::memcpy(&state, states.data() + i * sizeof(int), sizeof(int));
      place = place * static_cast<std::size_t>(num_states[i]) + static_cast<std::size_t>(state);
    }
    return place;
  };
  part.possibility->add_log_all(own);
  for (const auto& [states, places] : part.places) {
    double mean = 0.0;
    for (const std::size_t i : places) mean += part.told.values[i] / static_cast<double>(places.size());
    const std::size_t place = place_of(states);
    is_known[place] = 1;
    if (!noise_.is_there || mean == kNegInf) own[place] = mean;
  }
  for (const std::string& states : part.failed) {
    own[place_of(states)] = kNegInf;
    is_known[place_of(states)] = 1;
  }
}

void LearnedTarget::add_all(std::span<double> log_densities, std::vector<unsigned char>& is_known) const {
  const auto width = static_cast<std::size_t>(graph_.num_variables());
  is_known.assign(log_densities.size(), 1);
  std::vector<double> own;
  std::vector<unsigned char> own_known;
  for (const Part& part : parts_) {
    // The place in the function's own domain moves by one stride for each variable of its scope.
    std::vector<std::size_t> strides(width, 0);
    std::size_t size = 1;
    for (std::size_t i = part.scope.size(); i-- > 0;) {
      strides[static_cast<std::size_t>(part.scope[i])] = size;
      size *= static_cast<std::size_t>(domain_.num_states[part.scope[i]]);
    }
    own.resize(size);
    own_known.assign(size, 0);
    part.surrogate->predict_all(own);
    add_possible(part, own, own_known);
    Assignment x(width, 0);
    std::size_t place = 0;
    for (std::size_t at = 0; at < log_densities.size(); ++at) {
      log_densities[at] += own[place];
      const bool both = is_known[at] != 0 && own_known[place] != 0;
      is_known[at] = both || log_densities[at] == kNegInf ? 1 : 0;  // one -inf is enough
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
