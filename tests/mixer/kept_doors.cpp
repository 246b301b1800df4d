#include "mixer/kept_doors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mixer/doors.hpp"
#include "mixer/truth.hpp"
#include "support/formulas.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/kept_elimination.hpp"
#include "treesample/exact/many_cases.hpp"
#include "treesample/formula/count_formula.hpp"
#include "treesample/formula/nnf.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/network.hpp"
#include "treesample/reduce/intervention.hpp"

namespace treesample::mixer {
namespace {

constexpr double kTolerance = 1e-6;

std::vector<double> weights_for(Draw& draw, int num_states) {
  std::vector<double> weights;
  for (int s = 0; s < num_states; ++s) {
    const bool is_far = draw.chance(0.1);
    weights.push_back(is_far ? std::pow(10.0, draw.between(-300, 300)) : draw.chance(0.2) ? 0.0 : draw.uniform());
  }
  if (std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0.0; })) weights.front() = 1.0;
  return weights;
}

double off_by(const std::vector<double>& found, const std::vector<double>& wanted) {
  double off = 0.0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    off = std::isnan(found[i]) ? HUGE_VAL : std::max(off, std::abs(wanted[i] - found[i]));
  }
  return off;
}

void judge_bounds(const char* name, const LogBounds& bounds, Quad log_z, Tally& tally,
                  std::vector<std::string>& broken) {
  promise(tally, broken, name, bounds.lower <= log_z && bounds.upper >= log_z,
          fmt::format("[{:.17g}, {:.17g}] for {:.17g}", bounds.lower, bounds.upper, plain(log_z)));
}

// What each lane of a session knows, and what comes of it.
class Session {
 public:
  Session(const MixedCase& asked, const FactorGraph& graph, Draw& draw)
      : draw_(draw), lanes_(static_cast<std::size_t>(draw.between(1, 3)), asked), kept_(graph, options(graph)) {}

  void change() {
    const int lane = draw_.below(static_cast<int>(lanes_.size()));
    MixedCase& known = lanes_[static_cast<std::size_t>(lane)];
    const int v = draw_.below(static_cast<int>(known.num_states.size()));
    const int num_states = known.num_states[static_cast<std::size_t>(v)];
    std::erase_if(known.evidence, [=](const Observation& seen) { return seen.variable == v; });
    std::erase_if(known.soft_evidence, [=](const SoftObservation& seen) { return seen.variable == v; });
    if (draw_.chance(0.2)) return kept_.set_only_state(lane, v, -1);
    if (draw_.chance(0.6)) {
      known.evidence.push_back({v, draw_.below(num_states)});
      return kept_.set_only_state(lane, v, known.evidence.back().state);
    }
    known.soft_evidence.push_back({v, weights_for(draw_, num_states)});
    kept_.set_weights(lane, v, known.soft_evidence.back().weights);
  }

  void judge(Tally& tally, std::vector<std::string>& broken) {
    kept_.run_up();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (kept_.is_lossy(static_cast<int>(lane))) continue;
      judge_bounds("bounds of a session", kept_.bounds(static_cast<int>(lane)), Truth(lanes_[lane]).log_z(), tally,
                   broken);
    }
    kept_.run_down();
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      const Truth truth(lanes_[lane]);
      if (kept_.is_lossy(static_cast<int>(lane)) || truth.is_impossible()) continue;
      for (std::size_t v = 0; v < lanes_[lane].num_states.size(); ++v) {
        std::vector<double> found(static_cast<std::size_t>(lanes_[lane].num_states[v]));
        kept_.asked(static_cast<int>(v), static_cast<int>(lane), found);
        const double off = off_by(found, truth.distribution({static_cast<int>(v)}));
        promise(tally, broken, "marginals of a session", off <= kTolerance, fmt::format("off by {:.3g}", off));
      }
    }
  }

  [[nodiscard]] const std::vector<MixedCase>& lanes() const { return lanes_; }

 private:
  [[nodiscard]] KeptOptions options(const FactorGraph& graph) const {
    KeptOptions options{.lanes = static_cast<int>(lanes_.size())};
    for (int v = 0; v < graph.num_variables(); ++v) {
      options.weighted.push_back(v);
      options.asked.push_back({v});
    }
    return options;
  }

  Draw& draw_;
  std::vector<MixedCase> lanes_;
  KeptElimination kept_;
};

void judge_cases(const FactorGraph& graph, const std::vector<MixedCase>& asked, Tally& tally,
                 std::vector<std::string>& broken) {
  ManyCasesOptions options;
  for (int v = 0; v < graph.num_variables(); ++v) options.asked.push_back({v});
  ManyCases cases(graph, options);
  std::vector<Observations> seen;
  for (const MixedCase& one : asked) seen.push_back({one.evidence, one.soft_evidence});
  std::vector<CaseSums> sums(seen.size());
  std::vector<double> probabilities(seen.size() * cases.num_probabilities());
  cases.solve(seen, sums, probabilities);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!sums[i].is_known) continue;
    const Truth truth(asked[i]);
    judge_bounds("bounds of shared cases", sums[i].bounds, truth.log_z(), tally, broken);
    auto from = probabilities.begin() + static_cast<std::ptrdiff_t>(i * cases.num_probabilities());
    for (int v = 0; v < graph.num_variables(); ++v) {
      const double off = off_by({from, from + graph.num_states(v)}, truth.distribution({v}));
      promise(tally, broken, "marginals of shared cases", off <= kTolerance, fmt::format("off by {:.3g}", off));
      from += graph.num_states(v);
    }
  }
}

// A graph of tables as a case.
MixedCase case_of(const FactorGraph& graph) {
  MixedCase made;
  for (int v = 0; v < graph.num_variables(); ++v) made.num_states.push_back(graph.num_states(v));
  for (const Factor& factor : graph.factors()) {
    made.factors.push_back({.scope = factor.scope(), .log_values = factor.log_values()});
  }
  return made;
}

void judge_infer(const FactorGraph& graph, const Evidence& evidence, Tally& tally, std::vector<std::string>& broken) {
  MixedCase asked = case_of(graph);
  asked.evidence = evidence;
  const InferRequest request = asked.request();
  const Answer answer = infer(Model(graph, evidence), request.question, request.limits, request.options);
  for (std::string& line : broken_in(answer, asked, request, tally)) broken.push_back(std::move(line));
}

}  // namespace

void by_session(const MixedCase& asked, Draw& draw, Tally& tally, std::vector<std::string>& broken) {
  MixedCase tables = asked;
  for (MixedFactor& made : tables.factors) made.kind = MixedFactor::Kind::kTable;
  const FactorGraph graph = tables.model().graph;
  Session session(tables, graph, draw);
  for (int round = draw.between(1, 4); round > 0; --round) {
    for (int changes = draw.between(1, 3); changes > 0; --changes) session.change();
    session.judge(tally, broken);
  }
  judge_cases(graph, session.lanes(), tally, broken);
}

void by_setting(const MixedCase& asked, Draw& draw, Tally& tally, std::vector<std::string>& broken) {
  const FactorGraph graph = asked.model().graph;
  if (!graph.has_only_tables() || !check_network(graph).is_network()) return;
  Evidence done, seen;
  MixedCase set = asked;
  for (const int v : draw.some_of(draw.between(1, 2), graph.num_variables())) {
    const int state = draw.below(graph.num_states(v));
    done.push_back({v, state});
    for (MixedFactor& made : set.factors) {
      if (made.scope.back() != v) continue;
      made.scope = {v};
      made.log_values.assign(static_cast<std::size_t>(graph.num_states(v)), kNegInf);
      made.log_values[static_cast<std::size_t>(state)] = 0.0;
    }
  }
  for (const int v : draw.some_of(draw.below(3), graph.num_variables())) {
    seen.push_back({v, draw.below(graph.num_states(v))});
  }
  set.evidence = seen;
  const InferRequest request = set.request();
  const Answer answer = infer(Model(intervened(graph, done), seen), request.question, request.limits, request.options);
  promise(tally, broken, "what is set is asked", answer.is_exact, answer.method);
  for (std::string& line : broken_in(answer, set, request, tally)) broken.push_back(std::move(line));
}

void by_formula(const MixedCase& asked, Draw& /*draw*/, Tally& tally, std::vector<std::string>& broken) {
  Random random(asked.door_seed, "mixed formula");
  const bool has_negative = asked.door_seed % 5 == 0;
  const Formula formula = testing::random_formula(random, {.most_variables = 8, .has_negative = has_negative});
  const testing::EnumeratedFormula truth = testing::enumerate_formula(formula);
  const FormulaOptions options{.has_reductions = random.uniform() < 0.7,
                               .has_definitions = random.uniform() < 0.7,
                               .seed = static_cast<std::uint64_t>(random.below(100))};
  const FormulaCount count = count_formula(parse_formula(format_formula(formula), "mixed.cnf"), {}, options);
  const double scale = std::pow(0.25, truth.num_shown);  // both are numbers without rounding
  const double found = count.is_solved ? std::stod(count.numerator) / std::stod(count.denominator) : NAN;
  promise(tally, broken, "counts of formulas", found == static_cast<double>(truth.count) * scale,
          fmt::format("{}/{} for {} times {}", count.numerator, count.denominator, truth.count, scale));
  promise(tally, broken, "formulas can be satisfied, or not",
          !count.is_satisfiable || *count.is_satisfiable == truth.is_satisfiable, "");
  if (has_negative) return;
  const FactorGraph graph = formula_graph(formula);
  judge_infer(graph, {}, tally, broken);
  if (!formula.weights.empty()) return;
  const CountResult compiled = treesample::count(graph, {}, {.keep_circuit = true});
  if (!compiled.circuit) return;
  Formula all = formula;
  all.shown.reset();
  const testing::EnumeratedFormula whole = testing::enumerate_formula(all);
  const std::string in_nnf = count_nnf(parse_nnf(format_nnf(*compiled.circuit), "mixed.nnf"));
  promise(tally, broken, "counts of compiled formulas",
          std::stod(in_nnf) == static_cast<double>(whole.count) * std::pow(0.25, whole.num_shown), in_nnf);
}

}  // namespace treesample::mixer
