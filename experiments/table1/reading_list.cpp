#include "reading_list.hpp"

#include <fmt/format.h>

#include "paper_cells.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"

namespace treesample::experiments {
namespace {

using Values = std::map<std::string, double>;

std::string word_of_values(const Values& values, OrderKind order, OrderKind letter_order) {
  std::string word;
  for (const auto& [name, value] : values) word += fmt::format("{}{}={:g}", word.empty() ? "" : " ", name, value);
  if (order != letter_order)
    word += fmt::format("{}order={}", word.empty() ? "" : " ", order == OrderKind::kDegree ? "degree" : "given");
  return word.empty() ? "letter" : word;
}

// Every combination of the values of every field. A field that is left at the letter's value is not named.
std::vector<Values> combinations(const std::vector<std::pair<std::string, std::vector<double>>>& fields,
                                 const Values& letter) {
  std::vector<Values> all = {{}};
  for (const auto& [name, values] : fields) {
    std::vector<Values> wider;
    for (const Values& base : all) {
      for (const double value : values) {
        Values next = base;
        const auto standing = letter.find(name);
        if (standing == letter.end() || standing->second != value) next[name] = value;
        wider.push_back(std::move(next));
      }
    }
    all = std::move(wider);
  }
  return all;
}

std::vector<Values> values_of(const std::string& family) {
  if (family == "chain") {
    std::vector<Values> all = combinations({{"pair_offset", {0.0, 1.0, 2.0, 2.25, 2.5, 2.75, 3.0}},
                                            {"scale_is_variance", {0.0, 1.0}},
                                            {"ring", {0.0, 1.0}}},
                                           {{"pair_offset", 0.0}, {"scale_is_variance", 0.0}, {"ring", 0.0}});
    all.push_back({{"pair_slope", 2.5}});  // as printed
    return all;
  }
  if (family == "permuted-chain") {
    return combinations({{"ring", {0.0, 1.0}},
                         {"first_factor", {0.0, 1.0}},
                         {"log_tables", {1.0, 0.0}},
                         {"pair_offset", {0.0, 0.7, 1.3, 2.0}}},
                        {{"ring", 0.0}, {"first_factor", 0.0}, {"log_tables", 1.0}, {"pair_offset", 0.0}});
  }
  if (family == "factor-graphs-1") {
    const Values letter = {{"entry_mean", 0.0}, {"entry_stddev", 1.0}, {"every_clique", 0.0}};
    std::vector<Values> all = combinations(
        {{"entry_mean", {0.0, 0.5, 1.0, 1.05, 1.1, 1.15, 1.2}}, {"entry_stddev", {1.0, 0.7, 0.8, 0.9}}}, letter);
    for (Values& values : combinations({{"every_clique", {1.0}}, {"entry_stddev", {1.0, 0.7, 0.8, 0.9}}}, letter)) {
      all.push_back(std::move(values));
    }
    return all;
  }
  return combinations({{"strict_majority", {0.0, 1.0}}, {"every_clique", {0.0, 1.0}}, {"scale", {2.0, 1.0, 2.2}}},
                      {{"strict_majority", 0.0}, {"every_clique", 0.0}, {"scale", 2.0}});
}

template <class Make>
std::vector<TunedRun> tried(std::initializer_list<double> values, Make make) {
  std::vector<TunedRun> runs;
  for (const double value : values) {
    TunedRun run = make();
    run.tuned = value;
    runs.push_back(run);
  }
  return runs;
}

std::vector<MethodReading> smc_readings() {
  std::vector<MethodReading> readings;
  for (const ResamplingScheme scheme :
       {ResamplingScheme::kMultinomial, ResamplingScheme::kStratified, ResamplingScheme::kSystematic}) {
    for (const bool is_last : {false, true}) {
      readings.push_back({Contender::kSmc, fmt::format("{}{}", to_string(scheme), is_last ? ", last level too" : ""),
                          tried({0.25, 0.5, 0.75, 0.9, 1.0}, [&] {
                            return TunedRun{.method = Contender::kSmc, .resampling = scheme, .resamples_last = is_last};
                          })});
    }
  }
  return readings;
}

std::vector<MethodReading> tree_readings() {
  std::vector<MethodReading> readings;
  for (const TieRule ties : {TieRule::kLowest, TieRule::kRandom}) {
    readings.push_back(
        {Contender::kTree, ties == TieRule::kRandom ? "random ties" : "lowest of ties",
         tried({0.1, 0.3, 1.0, 3.0, 10.0, 30.0}, [&] { return TunedRun{.method = Contender::kTree, .ties = ties}; })});
  }
  return readings;
}

std::vector<MethodReading> gibbs_readings() {
  std::vector<MethodReading> readings;
  for (const GibbsCharge charge : {GibbsCharge::kState, GibbsCharge::kUpdate}) {
    readings.push_back(
        {Contender::kGibbs, charge == GibbsCharge::kState ? "K per update" : "1 per update",
         tried({1, 2, 5, 10, 20}, [&] { return TunedRun{.method = Contender::kGibbs, .gibbs_charge = charge}; })});
  }
  return readings;
}

std::vector<MethodReading> bp_readings() {
  std::vector<MethodReading> readings;
  const std::pair<BpCharge, const char*> charges[] = {{BpCharge::kFactor, "1 per factor and step"},
                                                      {BpCharge::kMessage, "1 per message"},
                                                      {BpCharge::kEntry, "1 per table entry"}};
  for (const auto& [charge, word] : charges) {
    readings.push_back({Contender::kBp, word, tried({1, 2, 3, 5}, [charge = charge] {
                          return TunedRun{.method = Contender::kBp, .bp_charge = charge};
                        })});
  }
  return readings;
}

double error_of(const ParticleApproximation& particles, double log_z, bool is_kl) {
  return -particles.mean_log_density() - particles.entropy() + (is_kl ? log_z : 0.0);
}

}  // namespace

std::string TunedRun::word() const {
  switch (method) {
    case Contender::kSis:
      return "sis";
    case Contender::kSmc:
      return fmt::format("smc {}{} t={:g}", to_string(resampling), resamples_last ? " last" : "", tuned);
    case Contender::kGibbs:
      return fmt::format("gibbs {} sweeps={:g}", gibbs_charge == GibbsCharge::kState ? "state" : "update", tuned);
    case Contender::kBp:
      return fmt::format("bp {} messages={:g}",
                         bp_charge == BpCharge::kFactor    ? "factor"
                         : bp_charge == BpCharge::kMessage ? "message"
                                                           : "entry",
                         tuned);
    default:
      return fmt::format("tree {} c={:g}", ties == TieRule::kRandom ? "random" : "lowest", tuned);
  }
}

std::vector<FamilyReading> family_readings(const std::string& family) {
  const OrderKind letter = family == "factor-graphs-1" ? OrderKind::kDegree : OrderKind::kGiven;
  const OrderKind other = letter == OrderKind::kDegree ? OrderKind::kGiven : OrderKind::kDegree;
  std::vector<FamilyReading> readings;
  for (const Values& values : values_of(family)) {
    readings.push_back({family, word_of_values(values, letter, letter), values, letter});
    const bool has_orders = family == "factor-graphs-2" || (family == "factor-graphs-1" && values.empty());
    if (has_orders) readings.push_back({family, word_of_values(values, other, letter), values, other});
  }
  FamilyReading descendants{family, kDescendants, {}, is_chain(family) ? OrderKind::kGiven : OrderKind::kDegree};
  if (family == "chain") descendants.values = {{"pair_slope", 2.5}, {"scale_is_variance", 1.0}};
  if (family == "permuted-chain") descendants.values = {{"log_tables", 0.0}};
  readings.push_back(descendants);
  return readings;
}

std::vector<std::vector<MethodReading>> method_readings(const std::string& family) {
  std::vector<std::vector<MethodReading>> all = {{{Contender::kSis, "", {TunedRun{.method = Contender::kSis}}}},
                                                 smc_readings()};
  if (!is_chain(family)) {
    all.push_back(gibbs_readings());
    all.push_back(bp_readings());
  }
  all.push_back(tree_readings());
  return all;
}

std::optional<double> error_of(const FactorGraph& graph, OrderKind order, double log_z, bool is_kl, const TunedRun& run,
                               std::int64_t budget, std::uint64_t seed) {
  const Limits limits{.budget = budget};
  const int steps = static_cast<int>(run.tuned);
  try {
    if (run.method == Contender::kGibbs) {
      return error_of(
          gibbs(graph, limits, {.num_sweeps = steps, .charge = run.gibbs_charge, .seed = seed}).approximation, log_z,
          is_kl);
    }
    if (run.method == Contender::kBp) {
      return error_of(
          bp_sample(graph, limits, {.num_steps = steps, .charge = run.bp_charge, .seed = seed}).approximation, log_z,
          is_kl);
    }
    const SearchSpace space =
        make_search_space(graph, search_order(graph, SpaceKind::kTree, {.kind = order}), SpaceKind::kTree);
    if (run.method == Contender::kTree) {
      const TreeSearchResult found =
          tree_sample(graph, space, {}, limits, {.c = run.tuned, .ties = run.ties, .seed = seed});
      return store_divergence(graph, found.approximation)->delta_kl + (is_kl ? log_z : 0.0);
    }
    const SmcOptions options{.ess_threshold = run.method == Contender::kSis ? 0.0 : run.tuned,
                             .resampling = run.resampling,
                             .resamples_last = run.resamples_last,
                             .seed = seed};
    return error_of(smc(graph, space, {}, limits, options).approximation, log_z, is_kl);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kArgument) throw;
    return std::nullopt;  // the budget does not pay for one sample
  }
}

}  // namespace treesample::experiments
