#include "blackbox/wide_belief.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "blackbox/summable_guess.hpp"
#include "surrogate/term_regression.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kCalibrationDraws = 256;
constexpr double kSmallCorrection = 0.02, kMostCorrection = 30.0;      // nats
constexpr std::array<double, 2> kPowers{1.0, 0.5}, kShares{0.6, 0.3};  // the rest is uniform

// Configurations with the density that they have under these tables.
std::shared_ptr<const LearnedApproximation> cut(const FactorGraph& tables, std::vector<Configuration> asked,
                                                std::uint64_t seed) {
  return std::make_shared<const LearnedApproximation>(eliminate_tables(tables, seed), tables, std::move(asked));
}

}  // namespace

FactorGraph tempered(const FactorGraph& tables, double power) {
  FactorGraph result;
  for (int v = 0; v < tables.num_variables(); ++v) result.add_variable(tables.num_states(v));
  for (const Factor& factor : tables.factors()) {
    std::vector<double> values = factor.log_values();
    for (double& value : values) value = value == kNegInf ? kNegInf : power * value;
    result.add_factor(Factor::table_of_sums(factor.scope(), std::move(values)));
  }
  return result;
}

Elimination eliminate_tables(const FactorGraph& tables, std::uint64_t seed) {
  return Elimination(tables, {}, {.restarts = 4, .seed = seed});
}

double log_mass(const std::vector<Configuration>& part) {
  std::vector<double> values;
  for (const Configuration& one : part) values.push_back(one.log_density);
  return log_sum_exp(values);
}

double mean_sd(const LearnedTarget& target, const LearnedApproximation& elsewhere, std::uint64_t seed) {
  constexpr std::size_t kDraws = 256;
  if (elsewhere.log_value() == kNegInf) return 0.0;
  Random random(seed, "spread");
  std::vector<int> rows;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const Assignment x = elsewhere.sample(random);
    rows.insert(rows.end(), x.begin(), x.end());
  }
  std::vector<Prediction> predicted(kDraws);
  target.predict(rows, predicted);
  double mean = 0.0;
  for (const Prediction& one : predicted) mean += one.sd / static_cast<double>(kDraws);
  return mean;
}

WideBelief::WideBelief(const LearnedTarget& target, const std::vector<Configuration>& known, SurrogatePool& pool,
                       std::size_t most, int num_draws, std::uint64_t seed, Random& random)
    : tables_(target.summable(kMostEntries)), known_(known) {
  correct(target, pool, num_draws, random);
  const double shift = calibrate(target, pool, random);
  if (std::isfinite(shift) && shift != 0.0) tables_.add_factor(Factor::table_of_sums({}, {shift}));
  std::set<Assignment> told;
  for (const Configuration& one : known_) told.insert(one.x);
  for (Configuration& one : pool.best_first(most)) {
    if (!told.contains(one.x)) computed_.push_back(std::move(one));
  }
  elsewhere_ = cut(tables_, without_known(), seed);
}

// Terms are fitted to what the beliefs have beyond the tables. Half of the draws are from the square root of the
// tables: otherwise only where the tables are too large would be learned.
void WideBelief::correct(const LearnedTarget& target, SurrogatePool& pool, int num_draws, Random& random) {
  const Elimination sums = eliminate_tables(tables_, 0), flat = eliminate_tables(tempered(tables_, kPowers[1]), 0);
  if (sums.log_z() == kNegInf) return;
  std::vector<Assignment> drawn;
  RegressionData off{.num_states = target.domain().num_states};
  for (int i = 0; i < num_draws; ++i) {
    drawn.push_back((i % 2 == 0 ? sums : flat).sample(random));
    off.states.insert(off.states.end(), drawn.back().begin(), drawn.back().end());
  }
  pool.add(drawn);
  off.values.resize(num_draws);
  off.weights = Eigen::VectorXd::Ones(num_draws);
  target.believe(off.states, {off.values.data(), drawn.size()});
  for (Eigen::Index i = 0; i < num_draws; ++i) {
    const double tables = tables_.log_density(drawn[static_cast<std::size_t>(i)]);
    off.values[i] = std::clamp(off.values[i] - tables, -kMostCorrection, kMostCorrection);
  }
  if (off.values.squaredNorm() < num_draws * kSmallCorrection * kSmallCorrection) return;
  const TermRegression terms(off, {}, {.num_rounds = 6, .max_order = 3, .max_features = 400, .max_triples = 3000});
  std::vector<TableTerm> more{{{}, {terms.constant()}}};
  for (const RegressionTerm& term : terms.terms())
    more.push_back({term.scope, term_table(term, off.num_states), term.coefficients.norm()});
  add_affordable(tables_, std::move(more), kMostEntries);
}

// Draws that are not in the pool yet say by how much the tables are off elsewhere; then they are taken in.
double WideBelief::calibrate(const LearnedTarget& target, SurrogatePool& pool, Random& random) {
  const Elimination sums = eliminate_tables(tables_, 0);
  if (sums.log_z() == kNegInf) return 0.0;
  std::vector<Assignment> drawn;
  std::vector<int> rows;
  for (int i = 0; i < kCalibrationDraws; ++i) {
    Assignment x = sums.sample(random);
    if (pool.contains(x) || target.known(x)) continue;
    rows.insert(rows.end(), x.begin(), x.end());
    drawn.push_back(std::move(x));
  }
  if (drawn.empty()) return 0.0;
  std::vector<double> off(drawn.size());
  target.believe(rows, off);
  for (std::size_t i = 0; i < drawn.size(); ++i) off[i] -= tables_.log_density(drawn[i]);
  const double shift = log_sum_exp(off) - std::log(static_cast<double>(drawn.size()));
  pool.add(drawn);
  return shift;
}

std::vector<Configuration> WideBelief::without_known() const {
  std::vector<Configuration> cut_out = computed_;
  for (const Configuration& one : known_) cut_out.push_back({one.x, kNegInf});
  return cut_out;
}

std::shared_ptr<const LearnedApproximation> WideBelief::all() const {
  std::vector<Configuration> cut_out = computed_;
  cut_out.insert(cut_out.end(), known_.begin(), known_.end());
  return std::make_shared<const LearnedApproximation>(elsewhere_->learned(), tables_, std::move(cut_out));
}

WideMixture::WideMixture(const WideBelief& belief, const FactorGraph& tables_of_model, std::uint64_t seed) {
  std::vector<Configuration> told;
  for (const Configuration& one : belief.known()) told.push_back({one.x, kNegInf});
  uniform_ = cut(tempered(tables_of_model, 0.0), told, seed);
  parts_.push_back(belief.elsewhere());
  std::vector<Configuration> flat = belief.computed();
  for (Configuration& one : flat) one.log_density *= kPowers[1];
  flat.insert(flat.end(), told.begin(), told.end());
  parts_.push_back(cut(tempered(belief.tables(), kPowers[1]), std::move(flat), seed));
}

Assignment WideMixture::draw(Random& random) const {
  double u = random.uniform();
  std::size_t k = 0;
  while (k < parts_.size() && u >= kShares[k]) u -= kShares[k++];
  const bool is_uniform = k == parts_.size() || parts_[k]->log_value() == kNegInf;
  return (is_uniform ? uniform_ : parts_[k])->sample(random);
}

double WideMixture::log_belief(const Assignment& x) const {
  const LearnedApproximation& belief = *parts_.front();
  return belief.log_value() == kNegInf ? kNegInf : belief.log_prob(x) + belief.log_value();
}

// Where one of the distributions has nothing left, its share goes to the uniform one.
TargetSample WideMixture::weigh(const Assignment& x) const {
  double rest = 1.0, log_q = kNegInf;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (parts_[k]->log_value() == kNegInf) continue;
    rest -= kShares[k];
    log_q = log_add_exp(log_q, std::log(kShares[k]) + parts_[k]->log_prob(x));
  }
  log_q = log_add_exp(log_q, std::log(rest) + uniform_->log_prob(x));
  return {x, -log_q, log_belief(x) - log_q, log_q};
}

}  // namespace treesample
