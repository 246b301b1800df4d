#include "monotone/monotone_functions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Shares of the unknown part of Z in a box. If a call is expected to settle less than kWorthACall of it, the box is cut
// instead. A cut along a known bound is made if it decides at least kWorthACut of it.
constexpr double kWorthACall = 0.5, kWorthACut = 0.2;

// e^(a - b) with e^-inf = 0 for any b.

}  // namespace

MonotoneFunctions::MonotoneFunctions(const FactorGraph& graph, const TableMasses& masses, std::uint64_t seed)
    : graph_(&graph), masses_(&masses), index_of_(static_cast<std::size_t>(graph.num_factors()), -1) {
  for (int m = 0; m < graph.num_factors(); ++m) {
    if (graph.factor(m).is_table()) continue;
    index_of_[m] = static_cast<int>(functions_.size());
    KnownValues known(graph, m);
    ValueGuess guess(known.num_bits(), seed);
    Function function{
        .known = std::move(known), .guess = std::move(guess), .variables = graph.factor(m).scope(), .place_of_bit = {}};
    double low = 0.0, high = 0.0;
    for (int place = 0; place < static_cast<int>(function.variables.size()); ++place) {
      const std::vector<double>& log_p = masses.log_probabilities(function.variables[place]);
      const bool is_increasing = function.known.is_increasing(place);
      low += is_increasing ? log_p.front() : log_p.back();
      high += is_increasing ? log_p.back() : log_p.front();
      function.place_of_bit.insert(function.place_of_bit.end(), log_p.size() - 1, place);
    }
    function.asks_low_first = low >= high;
    functions_.push_back(std::move(function));
  }
}

MonotoneFunctions::View MonotoneFunctions::view(const Box& box) const {
  View view;
  for (const Function& function : functions_) {
    View::Corners corners;
    for (int place = 0; place < static_cast<int>(function.variables.size()); ++place) {
      const int v = function.variables[place];
      const bool is_increasing = function.known.is_increasing(place);
      corners.low_states.push_back(is_increasing ? box.first[v] : box.last[v]);
      corners.high_states.push_back(is_increasing ? box.last[v] : box.first[v]);
    }
    corners.low = function.known.bits(corners.low_states);
    corners.high = function.known.bits(corners.high_states);
    corners.upper = function.known.upper(corners.high);
    corners.lower = corners.upper == kNegInf ? kNegInf : std::min(corners.upper, function.known.lower(corners.low));
    view.lower += corners.lower;
    view.upper += corners.upper;
    const double low = std::abs(corners.lower), high = std::abs(corners.upper);
    view.magnitude += std::max(std::isfinite(low) ? low : 0.0, std::isfinite(high) ? high : 0.0);
    view.corners.push_back(std::move(corners));
  }
  // BoxTree::rounding() allows for the additions of 32 numbers of a magnitude.
  view.magnitude *= std::max(1.0, static_cast<double>(functions_.size()) / 32.0);
  // One function that is impossible decides the box, whatever is unknown about the others.
  const bool is_impossible = std::any_of(view.corners.begin(), view.corners.end(),
                                         [](const View::Corners& corners) { return corners.upper == kNegInf; });
  if (is_impossible) view.lower = view.upper = kNegInf;
  return view;
}

void MonotoneFunctions::add(const Question& question, const FactorValue& value) {
  Function& function = functions_[index_of_[question.factor]];
  const KnownValues::Reach reach = function.known.add(question.states, value);
  if (!function.has_range) {
    const KnownValues::Bits none(function.known.num_words(), 0);
    KnownValues::Bits all = none;
    for (int bit = 0; bit < function.known.num_bits(); ++bit) all[bit / 64] |= std::uint64_t{1} << (bit % 64);
    const std::optional<double> top = function.known.value(all), bottom = function.known.value(none);
    function.has_range = top && bottom;
    if (!function.has_range) return;
    function.top = *top;
    function.bottom = *bottom;
    return;
  }
  if (function.top == function.bottom) return;
  const double least = ratio(function.bottom, function.top);
  const double share = (ratio(value.log_value, function.top) - least) / (1.0 - least);
  function.guess.add(share > 0.5 ? reach.low : reach.high, share);
}

std::optional<double> MonotoneFunctions::value(std::span<const int> x) const {
  double sum = 0.0;
  bool is_known = true;
  std::vector<int> states;
  for (const Function& function : functions_) {
    states.clear();
    for (const int v : function.variables) states.push_back(x[v]);
    const std::optional<double> value = function.known.value(function.known.bits(states));
    if (value == kNegInf) return kNegInf;
    is_known = is_known && value;
    if (value) sum += *value;
  }
  return is_known ? std::optional(sum) : std::nullopt;
}

std::optional<MonotoneFunctions::Question> MonotoneFunctions::unknown(std::span<const int> x) const {
  for (const Function& function : functions_) {
    std::vector<int> states;
    for (const int v : function.variables) states.push_back(x[v]);
    if (!function.known.value(function.known.bits(states))) return Question{function.known.factor(), std::move(states)};
  }
  return {};
}

double MonotoneFunctions::noise() const {
  double sum = 0.0;
  for (const Function& function : functions_) sum += function.known.noise();
  return sum;
}

std::int64_t MonotoneFunctions::num_bits() const {
  std::int64_t sum = 0;
  for (const Function& function : functions_) sum += function.known.num_bits();
  return std::max<std::int64_t>(sum, 1);
}

std::optional<MonotoneFunctions::Question> MonotoneFunctions::first_question(const View& view) const {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& function = functions_[i];
    if (function.has_range) continue;
    const View::Corners& corners = view.corners[i];
    if (corners.upper == HUGE_VAL) return Question{function.known.factor(), corners.high_states};
    if (!function.known.value(corners.low)) return Question{function.known.factor(), corners.low_states};
  }
  return {};
}

MonotoneFunctions::Cut MonotoneFunctions::cut_at(const Function& function, int bit) const {
  const int place = function.place_of_bit[bit];
  const int level = bit - function.known.first_bit(place) + 1;
  const int num_levels = function.known.num_levels(place);
  return {function.variables[place], function.known.is_increasing(place) ? level : num_levels - level};
}

// By bit: the logarithm of the probability that its level is not reached (is_below), or that it is. It is taken within
// the box and by the marginals of the tables.
std::vector<double> MonotoneFunctions::shares_in(const Function& function, const Box& box, bool is_below) const {
  std::vector<double> shares(static_cast<std::size_t>(function.known.num_bits()), kNegInf);
  for (int place = 0; place < static_cast<int>(function.variables.size()); ++place) {
    const int v = function.variables[place];
    const std::span<const double> log_p = masses_->log_probabilities(v);
    const double all = log_sum_exp(log_p.subspan(box.first[v], box.last[v] - box.first[v] + 1));
    if (all == kNegInf) continue;
    for (int s = box.first[v] + 1; s <= box.last[v]; ++s) {  // cut before s
      const double below = log_sum_exp(log_p.subspan(box.first[v], s - box.first[v])) - all;
      const double from = log_sum_exp(log_p.subspan(s, box.last[v] - s + 1)) - all;
      const bool is_increasing = function.known.is_increasing(place);
      const int level = is_increasing ? s : function.known.num_levels(place) - s;
      shares[function.known.first_bit(place) + level - 1] = is_below == is_increasing ? below : from;
    }
  }
  return shares;
}

// `log_share` is the gain of an entry if it held in the whole box. The function adds the logarithm of the share of the
// box where the entry does hold, as long as the result is more than `least`. `missing` are the bits by which the box
// goes beyond the entry: for an upper bound, which holds below, the lowest such bit of each variable; for a lower bound
// the highest.
double MonotoneFunctions::add_share(const Function& function, const View::Corners& corners, const Known& known,
                                    double log_share, double least, std::vector<int>& missing) {
  missing.clear();
  for (std::size_t w = 0; w < function.known.num_words() && log_share > least; ++w) {
    const std::uint64_t bits = known.bits[w];
    if (known.is_upper ? (corners.low[w] & ~bits) != 0 : (bits & ~corners.high[w]) != 0) return kNegInf;  // outside
    std::uint64_t rest = known.is_upper ? corners.high[w] & ~bits : bits & ~corners.low[w];
    for (; rest != 0 && log_share > least; rest &= rest - 1) {
      const int bit = static_cast<int>(64 * w) + std::countr_zero(rest);
      const bool is_same = !missing.empty() && function.place_of_bit[missing.back()] == function.place_of_bit[bit];
      if (is_same && known.is_upper) continue;
      if (is_same) {
        log_share -= known.log_shares[missing.back()];
        missing.back() = bit;
      } else {
        missing.push_back(bit);
      }
      log_share += known.log_shares[bit];
    }
  }
  return log_share;
}

// Cuts towards the part of the box where a known bound holds. The level with the largest weight is cut off first.
std::optional<MonotoneFunctions::Cut> MonotoneFunctions::cut_along_known(const Box& box, const View& view) const {
  const double known_share = ratio(view.lower, view.upper);
  double best = std::log(kWorthACut);
  std::optional<Cut> cut;
  std::vector<int> missing;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& function = functions_[i];
    const View::Corners& corners = view.corners[i];
    const double others = others_lower(view, i);
    for (const bool is_upper : {true, false}) {
      const KnownValues::Entries& entries = is_upper ? function.known.upper_entries() : function.known.lower_entries();
      const std::vector<double> log_shares = shares_in(function, box, is_upper);
      for (std::size_t e = 0; e < entries.values.size(); ++e) {
        const double there = ratio(entries.values[e], corners.upper);
        const double told = is_upper ? 1.0 - there : others * there - known_share;
        if (!(told > 0.0)) continue;
        const Known known{&entries.bits[e * function.known.num_words()], is_upper, log_shares};
        const double share = add_share(function, corners, known, std::log(told / (1.0 - known_share)), best, missing);
        if (share <= best || missing.empty()) continue;
        best = share;
        const auto weight = [&](int a, int b) { return function.guess.weight(a) < function.guess.weight(b); };
        cut = cut_at(function, *std::max_element(missing.begin(), missing.end(), weight));
      }
    }
  }
  return cut;
}

// exp(lower - upper) of all functions except one.
double MonotoneFunctions::others_lower(const View& view, std::size_t index) {
  double share = 1.0;
  for (std::size_t i = 0; i < view.corners.size(); ++i) {
    if (i != index) share *= ratio(view.corners[i].lower, view.corners[i].upper);
  }
  return share;
}

// exp(f - top) according to the guess.
double MonotoneFunctions::guessed(const Function& function, const KnownValues::Bits& x) const {
  const double least = ratio(function.bottom, function.top);
  return least + (1.0 - least) * function.guess.share(x);
}

// The share of the unknown part of the box that is expected to be settled by the value at a corner.
double MonotoneFunctions::gain(const View& view, std::size_t index, bool is_low) const {
  const Function& function = functions_[index];
  const View::Corners& corners = view.corners[index];
  const double known = ratio(view.lower, view.upper);
  const double guess = guessed(function, is_low ? corners.low : corners.high) * ratio(function.top, corners.upper);
  if (!is_low) return (1.0 - std::min(1.0, guess)) / (1.0 - known);
  return (others_lower(view, index) * std::min(1.0, guess) - known) / (1.0 - known);
}

std::optional<MonotoneFunctions::Question> MonotoneFunctions::worthwhile_question(const View& view,
                                                                                  bool takes_any) const {
  std::optional<Question> best;
  double most = takes_any ? kNegInf : kWorthACall;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& function = functions_[i];
    const View::Corners& corners = view.corners[i];
    for (const bool is_low : {function.asks_low_first, !function.asks_low_first}) {
      if (function.known.value(is_low ? corners.low : corners.high)) continue;
      Question question{function.known.factor(), is_low ? corners.low_states : corners.high_states};
      // With a witness, a corner yields more than its value.
      if (function.known.has_witnesses() && is_low == function.asks_low_first) return question;
      const double told = gain(view, i, is_low);
      if (told < most || (best && told == most)) continue;
      most = told;
      best = std::move(question);
    }
  }
  return best;
}

std::optional<MonotoneFunctions::Cut> MonotoneFunctions::best_cut(const Box& box, const View& view) const {
  std::vector<std::vector<double>> weights(box.first.size());  // by variable and cut
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& function = functions_[i];
    if (view.corners[i].low == view.corners[i].high || view.corners[i].lower >= view.corners[i].upper) continue;
    for (int bit = 0; bit < function.known.num_bits(); ++bit) {
      const Cut cut = cut_at(function, bit);
      if (cut.state <= box.first[cut.variable] || cut.state > box.last[cut.variable]) continue;
      std::vector<double>& of_variable = weights[cut.variable];
      of_variable.resize(static_cast<std::size_t>(graph_->num_states(cut.variable)), -1.0);
      of_variable[cut.state] = std::max(0.0, of_variable[cut.state]) + function.guess.weight(bit);
    }
  }
  std::optional<Cut> best;
  double largest = 0.0;
  for (int v = 0; v < static_cast<int>(weights.size()); ++v) {
    const std::span<const double> log_p = masses_->log_probabilities(v);
    for (int s = 0; s < static_cast<int>(weights[v].size()); ++s) {
      if (weights[v][s] < 0.0) continue;
      constexpr double kTie = 1e-9;  // among equally good cuts, the one into the most even parts is taken
      const double below = std::exp(log_sum_exp(log_p.subspan(box.first[v], s - box.first[v])));
      const double from = std::exp(log_sum_exp(log_p.subspan(s, box.last[v] - s + 1)));
      const double weight = weights[v][s] + kTie * std::min(below, from);
      if (best && weight <= largest) continue;
      largest = weight;
      best = Cut{v, s};
    }
  }
  return best;
}

}  // namespace treesample
