#include "mixer/doors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

#include "mixer/draw.hpp"
#include "mixer/kept_doors.hpp"
#include "mixer/truth.hpp"
#include "treesample/blackbox/black_box.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample::mixer {
namespace {

using Kind = MixedFactor::Kind;
constexpr double kTolerance = 1e-6;

// A configuration in the making: -1 where nothing is chosen yet. Factors count at the end.
template <bool kHasUpper, ProgramObjects kObjects, bool kAnyOrder>
struct Assigning {
  using State = std::vector<int>;
  static constexpr ProgramObjects objects = kObjects;

  const Truth* truth = nullptr;
  std::vector<int> num_states;
  double most = 0.0;  // of the log density

  [[nodiscard]] State start() const { return State(num_states.size(), -1); }
  [[nodiscard]] bool is_end(const State& s) const { return std::count(s.begin(), s.end(), -1) == 0; }
  void actions(const State& s, auto&& emit) const {
    int action = 0;
    for (std::size_t v = 0; v < s.size(); ++v) {
      if (s[v] >= 0) continue;
      for (int k = 0; k < num_states[v]; ++k) {
        State next = s;
        next[v] = k;
        emit(action++, next);
      }
      if (!kAnyOrder) return;
    }
  }
  [[nodiscard]] double reward(const State& s) const { return plain(truth->density(s, false)); }
  [[nodiscard]] double log_paths(const State& s) const
    requires(kObjects == ProgramObjects::kPaths)
  {
    return kAnyOrder ? std::lgamma(static_cast<double>(s.size()) + 1.0) : 0.0;
  }
  [[nodiscard]] double upper(const State& s) const
    requires kHasUpper
  {
    double log_ways = 0.0;
    for (std::size_t v = 0; v < s.size(); ++v) log_ways += s[v] < 0 ? std::log(num_states[v]) : 0.0;
    return most + log_ways + 1e-9 * (1.0 + std::abs(most));
  }
};

void judge_distribution(const ProgramAnswer& answer, Tally& tally, std::vector<std::string>& broken) {
  if (!answer.distribution) return;
  double sum = 0.0;
  answer.distribution->for_each_end([&](StateId, double probability) { sum += probability; });
  promise(tally, broken, "probabilities of a program's objects add up to 1", std::abs(sum - 1.0) <= kTolerance,
          fmt::format("{:.17g}", sum));
}

template <class P>
void judge_program(const MixedCase& asked, const Truth& truth, Draw& draw, Tally& tally,
                   std::vector<std::string>& broken) {
  P made;
  made.truth = &truth;
  made.num_states = asked.num_states;
  made.most = truth.is_impossible() ? 0.0 : plain(truth.most());
  HashedProgram<P> program(made);
  ProgramOptions options;
  options.method = static_cast<ProgramMethod>(draw.below(5));
  options.samples = draw.one_of<int>({0, 1, 20});
  options.seed = static_cast<std::uint64_t>(draw.below(1000));
  options.batch = draw.one_of<int>({1, 1, 4});
  options.most_states = draw.one_of<std::int64_t>({4'000'000, 10});
  Limits limits;
  limits.calls = draw.one_of<std::int64_t>({Limits::kUnlimited, 1, 5, 40});
  limits.seconds = 5.0;
  ProgramAnswer answer;
  try {
    answer = infer_program(program, options, limits);
  } catch (const Error& error) {
    const bool is_refused = error.code() == ErrorCode::kArgument && options.method == ProgramMethod::kSearch;
    promise(tally, broken, "a program is refused for its method alone", is_refused, error.what());
    return;
  }
  const Quad log_z = truth.log_z();
  const double rounding = 1e-9 * (1.0 + std::abs(made.most));
  promise(tally, broken, "lower bound of a program", answer.log_z.lower <= log_z,
          fmt::format("{:.17g} for {:.17g}", answer.log_z.lower, plain(log_z)));
  promise(tally, broken, "upper bound of a program", answer.log_z.upper >= log_z,
          fmt::format("{:.17g} for {:.17g}", answer.log_z.upper, plain(log_z)));
  if (answer.is_exact) {
    const bool is_near =
        answer.estimate && (truth.is_impossible() ? *answer.estimate == kNegInf
                                                  : std::abs(*answer.estimate - plain(log_z)) <= kTolerance + rounding);
    promise(tally, broken, "log Z of a program is exact", is_near,
            fmt::format("{:.17g}", answer.estimate.value_or(NAN)));
  }
  if (answer.best) {
    const double density = plain(truth.density(program.state(answer.best->end()), false));
    promise(tally, broken, "weight of the best object", std::abs(density - answer.best->log_weight) <= rounding,
            fmt::format("{:.17g} for {:.17g}", answer.best->log_weight, density));
    if (answer.is_best_optimal) {
      promise(tally, broken, "the best object is optimal", plain(truth.most()) - density <= kTolerance + rounding, "");
    }
  }
  for (const ProgramPath& sample : answer.samples) {
    const bool is_possible = isinfq(truth.density(program.state(sample.end()), false)) == 0;
    if (answer.has_exact_samples) promise(tally, broken, "exact objects are possible", is_possible, "");
  }
  judge_distribution(answer, tally, broken);
}

void by_program(const MixedCase& asked, Draw& draw, Tally& tally, std::vector<std::string>& broken) {
  const Truth truth(asked);
  const bool is_small = truth.all().size() <= 40 && asked.num_states.size() <= 4;
  switch (draw.below(is_small ? 5 : 2)) {
    case 0:
      return judge_program<Assigning<false, ProgramObjects::kEnds, false>>(asked, truth, draw, tally, broken);
    case 1:
      return judge_program<Assigning<true, ProgramObjects::kEnds, false>>(asked, truth, draw, tally, broken);
    case 2:
      return judge_program<Assigning<true, ProgramObjects::kEnds, true>>(asked, truth, draw, tally, broken);
    case 3:
      return judge_program<Assigning<false, ProgramObjects::kPaths, true>>(asked, truth, draw, tally, broken);
    default:
      return judge_program<Assigning<true, ProgramObjects::kPaths, false>>(asked, truth, draw, tally, broken);
  }
}

// Tells the values of all functions at x, in their order, until one is -inf or fails.
void tell(BlackBox& box, const MixedCase& asked, const FactorGraph& graph, const Assignment& x) {
  bool goes_on = true;
  for (int m = 0; m < graph.num_factors() && goes_on; ++m) {
    if (graph.factor(m).is_table()) continue;
    std::vector<int> states;
    for (const int v : graph.factor(m).scope()) states.push_back(x[static_cast<std::size_t>(v)]);
    const std::size_t entry = table_index(graph, graph.factor(m), x);
    const MixedFactor& made = asked.factors[static_cast<std::size_t>(m)];
    if (made.kind == Kind::kFailingFunction && entry % 5 == 3) {
      box.tell_function_failed(m, states, "fails here");
      goes_on = false;
    } else {
      const double value = graph.factor(m).function()(states);
      box.tell_function(m, states, value);
      goes_on = value != kNegInf;
    }
  }
  box.tell_done(x);
}

void judge_told(const BlackBoxAnswer& answer, const Truth& truth, bool is_noisy, Tally& tally,
                std::vector<std::string>& broken) {
  const Quad log_z = truth.log_z();
  if (!is_noisy) {
    promise(tally, broken, "lower bound of what was told", answer.log_lower <= log_z,
            fmt::format("{:.17g} for {:.17g}", answer.log_lower, plain(log_z)));
    promise(tally, broken, "upper bound of what was told", answer.log_upper >= log_z,
            fmt::format("{:.17g} for {:.17g}", answer.log_upper, plain(log_z)));
    if (answer.best) {
      const double density = plain(truth.density(answer.best->x, false));
      promise(tally, broken, "density of the best that was told",
              std::abs(density - answer.best->log_density) <= 1e-9 * (1.0 + std::abs(density)) + answer.best_error,
              fmt::format("{:.17g} for {:.17g}", answer.best->log_density, density));
    }
    if (answer.is_exact && !truth.is_impossible()) {
      promise(tally, broken, "log Z of what was told is exact", std::abs(answer.log_z - plain(log_z)) <= kTolerance,
              fmt::format("{:.17g} for {:.17g}", answer.log_z, plain(log_z)));
    }
  } else if (answer.noise.is_there) {  // it is seen where a configuration is told again
    promise(tally, broken, "noisy values that were told are not exact", !answer.is_exact || truth.is_impossible(), "");
  }
  if (!answer.approximation) return;
  double sum = 0.0;
  for (const Assignment& x : truth.all()) sum += std::exp(answer.approximation->log_prob(x));
  promise(tally, broken, "P_X of what was told adds up to 1", std::abs(sum - 1.0) <= kTolerance,
          fmt::format("{:.17g}", sum));
}

void by_telling(const MixedCase& asked, Draw& draw, Tally& tally, std::vector<std::string>& broken) {
  // Where a function fails, the target has nothing.
  MixedCase target = asked;
  for (MixedFactor& made : target.factors) {
    for (std::size_t i = 0; i < made.log_values.size(); ++i) {
      if (made.kind == Kind::kFailingFunction && i % 5 == 3) made.log_values[i] = kNegInf;
    }
  }
  const Truth truth(target);
  const FactorGraph graph = asked.model().graph;
  const BlackBoxOptions options{.seed = static_cast<std::uint64_t>(draw.below(1000)), .wants_best = draw.chance(0.2)};
  BlackBox box(graph, options);
  const std::size_t most = draw.one_of<std::size_t>({5, 20, 60});
  for (std::size_t told = 0; told < most;) {
    const int wanted = draw.between(1, 8);
    const bool is_check = draw.chance(0.1);
    const std::vector<Assignment> proposed = is_check ? box.ask_check(wanted) : box.ask(wanted);
    const std::set<Assignment> different(proposed.begin(), proposed.end());
    bool are_legal = different.size() == proposed.size() && proposed.size() <= static_cast<std::size_t>(wanted);
    for (const Assignment& x : proposed) {
      are_legal = are_legal && x.size() == asked.num_states.size();
      for (std::size_t v = 0; v < x.size() && are_legal; ++v) are_legal = x[v] >= 0 && x[v] < asked.num_states[v];
    }
    promise(tally, broken, "what a box asks for is different and legal", are_legal, "");
    if (!are_legal) return;
    for (const Assignment& x : proposed) {
      if (draw.chance(0.95)) tell(box, asked, graph, x);
    }
    if (draw.chance(0.2))
      tell(box, asked, graph, truth.all()[static_cast<std::size_t>(draw.below(static_cast<int>(truth.all().size())))]);
    told += std::max<std::size_t>(1, proposed.size());
    if (proposed.empty() && draw.chance(0.5)) break;
  }
  const BlackBoxAnswer answer = box.answer();
  judge_told(answer, truth, asked.has(Kind::kNoisyFunction), tally, broken);
  if (!draw.chance(0.3)) return;
  BlackBox again(graph, options);
  again.load(box.save());
  const double log_z = again.answer().log_z;
  promise(tally, broken, "a saved box goes on with the same bits", log_z == answer.log_z,
          fmt::format("{:.17g} and {:.17g}", log_z, answer.log_z));
}

}  // namespace

void promise(Tally& tally, std::vector<std::string>& broken, const char* name, bool is_kept, const std::string& what) {
  Tally::Count& count = tally.promises[name];
  ++count.made;
  if (is_kept) return;
  ++count.broken;
  broken.push_back(fmt::format("{}: {}", name, what));
}

std::vector<std::string> broken_at_door(const MixedCase& asked, Tally& tally) {
  std::vector<std::string> broken;
  Draw draw(asked.door_seed, 0);
  try {
    if (asked.door == "program") by_program(asked, draw, tally, broken);
    if (asked.door == "tell") by_telling(asked, draw, tally, broken);
    if (asked.door == "session") by_session(asked, draw, tally, broken);
    if (asked.door == "do") by_setting(asked, draw, tally, broken);
    if (asked.door == "formula") by_formula(asked, draw, tally, broken);
  } catch (const std::exception& error) {
    promise(tally, broken, "doors take what is legal", false, error.what());
  }
  return broken;
}

}  // namespace treesample::mixer
