// Elimination in the linear domain. Messages are kept as numbers with one power of two per table.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "exact/bucket_moments.hpp"
#include "exact/bucket_tree.hpp"
#include "exact/elimination_pass.hpp"
#include "exact/linear_bucket.hpp"
#include "exact/separator_sums.hpp"
#include "math/vector_kernels.hpp"
#include "model/dense_table.hpp"
#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Larger tables are scaled only where their numbers leave this range: scaling one is a pass over it.
constexpr std::size_t kSmallTable = std::size_t{1} << 12;
constexpr double kWideRange = 0x1.0p16;
// Entries of a bucket that one thread works on at a time.
constexpr std::size_t kGrainEntries = std::size_t{1} << 14;

class LinearPass final : public EliminationPass {
 public:
  LinearPass(const FactorGraph& graph, const std::vector<int>& order, const PassOptions& options)
      : graph_(graph),
        order_(order),
        options_(options),
        tree_(graph, order),
        factors_(order.size()),
        messages_(order.size()) {}

  // False where too much may have been lost.
  bool eliminate_all(EntryWatch& watch);
  [[nodiscard]] Marginals marginals(EntryWatch& watch) const override;
  void conditional(int v, std::span<const int> x, std::span<double> probabilities) const override;

 private:
  using Bucket = BucketTree::Bucket;

  [[nodiscard]] std::vector<const LinearTable*> inputs(int v) const;
  [[nodiscard]] double num_entries(int v) const;
  bool take_factors(int v);
  void keep_product_small(int v);
  void set_error(int v, LinearTable& message, const Extent& extent) const;
  Extent fill(int v, LinearTable& message, EntryWatch& watch);
  bool eliminate(int v, EntryWatch& watch);
  bool add_number(const LinearTable& number);
  std::vector<double> sum_bucket(int v, std::vector<TableMemory>& probs, EntryWatch& watch) const;

  FactorGraph graph_;
  std::vector<int> order_;
  PassOptions options_;
  BucketTree tree_;
  std::vector<std::vector<LinearTable>> factors_;  // by bucket
  std::vector<LinearTable> messages_;              // by variable
  double lost_ = 0.0;                              // what absolute errors add to the error of log Z
  std::int64_t exponent_ = 0;                      // Z = 2^exponent * exp(log_z_)
};

std::vector<const LinearTable*> LinearPass::inputs(int v) const {
  std::vector<const LinearTable*> tables;
  for (const LinearTable& factor : factors_[v]) tables.push_back(&factor);
  for (const int c : tree_.buckets[v].children) tables.push_back(&messages_[c]);
  return tables;
}

double LinearPass::num_entries(int v) const {
  return static_cast<double>(num_table_entries(graph_, tree_.buckets[v].separator)) * graph_.num_states(v);
}

// False when one of them has no possible entry.
bool LinearPass::take_factors(int v) {
  for (const int m : tree_.buckets[v].factors) {
    const Factor& factor = graph_.factor(m);
    log_z_.add(*factor.log_max());
    if (*factor.log_max() == kNegInf) return false;
    factors_[v].push_back(linear_table(graph_, factor, tree_.time));
  }
  return true;
}

// Largest entries above 1 must not multiply to more than the error analysis allows.
void LinearPass::keep_product_small(int v) {
  double product = 1.0;
  for (const LinearTable* table : inputs(v)) product *= std::max(1.0, table->largest);
  if (product <= LinearError::kMostProduct) return;
  for (const int c : tree_.buckets[v].children) {
    exponent_ -= messages_[c].exponent;
    messages_[c].normalise();
    exponent_ += messages_[c].exponent;
  }
}

// By linear_error.hpp.
void LinearPass::set_error(int v, LinearTable& message, const Extent& extent) const {
  const std::vector<const LinearTable*> tables = inputs(v);
  const auto num_states = static_cast<double>(graph_.num_states(v));
  const auto num_tables = static_cast<double>(tables.size());
  double product_of_largest = 1.0, product_of_least = 1.0;
  for (const LinearTable* table : tables) {
    product_of_largest *= table->largest;
    product_of_least *= std::min(1.0, table->least);
  }
  LinearError& error = message.error;
  for (const LinearTable* table : tables) {
    error.relative += table->error.relative;
    if (table->error.absolute > 0.0) {
      error.absolute +=
          LinearError::kSlack * num_states * table->error.absolute * (product_of_largest / table->largest);
    }
  }
  error.relative += kEpsilon / 2.0 * (num_tables + num_states) * LinearError::kSlack;
  // Below kTiny may be what was put to 0, or what underflowed before it was seen.
  if (extent.is_lossy || product_of_least < LinearError::kNoUnderflow) error.absolute += 2.0 * LinearError::kTiny;
}

Extent LinearPass::fill(int v, LinearTable& message, EntryWatch& watch) {
  const LinearBucket bucket(graph_, v, tree_.buckets[v].separator, inputs(v));
  const std::size_t block_size = bucket.block_size();
  const std::size_t block_entries = block_size * bucket.num_states();
  const auto fill_blocks = [&](std::size_t first, std::size_t last, Extent& extent) {
    LinearBucket::Cursor cursor(bucket, first);
    for (std::size_t block = first; block < last; ++block, cursor.next()) {
      double* const out = message.values.data() + block * block_size;
      cursor.sum(out);
      extent.include({out, block_size});
    }
  };
  const std::size_t grain = std::max<std::size_t>(1, kGrainEntries / block_entries);
  Extent extent;
  if (bucket.num_blocks() <= grain) {
    fill_blocks(0, bucket.num_blocks(), extent);
    return extent;
  }
  std::vector<Extent> extents(static_cast<std::size_t>(options_.team->size()));
  std::size_t num_blocks_done = 0;  // as the calling thread sees it
  options_.team->run(
      bucket.num_blocks(), grain,
      [&](std::size_t first, std::size_t last, int worker) {
        fill_blocks(first, last, extents[static_cast<std::size_t>(worker)]);
        if (worker == 0) num_blocks_done = last;
      },
      [&] { return watch.is_asked_to_stop(static_cast<double>(num_blocks_done * block_entries)); });
  for (const Extent& part : extents) extent.include(part);
  return extent;
}

// log Z gets the number; false where too much of it may have been lost.
bool LinearPass::add_number(const LinearTable& number) {
  if (number.largest == 0.0) {
    log_z_.add(kNegInf);
    return number.error.absolute == 0.0;
  }
  log_z_.add(std::log(number.values.data()[0]));
  error_ += number.error.of_log(number.values.data()[0]) + 2.0 * kEpsilon;
  lost_ += 3.0 * number.error.absolute / number.values.data()[0];
  return lost_ <= kMostLost;
}

bool LinearPass::eliminate(int v, EntryWatch& watch) {
  if (!take_factors(v)) return true;
  keep_product_small(v);
  const Bucket& bucket = tree_.buckets[v];
  LinearTable& message = messages_[v];
  message.scope = bucket.separator;
  message.values = TableMemory(num_table_entries(graph_, bucket.separator), options_.pool);
  const Extent extent = fill(v, message, watch);
  message.largest = extent.largest;
  message.least = extent.least;
  set_error(v, message, extent);
  const bool is_wide = message.largest > kWideRange || message.largest < 1.0 / kWideRange;
  if (is_wide || message.values.size() <= kSmallTable) message.normalise();
  exponent_ += message.exponent;
  if (!options_.keep_messages) {
    factors_[v].clear();
    for (const int c : bucket.children) messages_[c].values = TableMemory();
  }
  if (bucket.separator.empty() || message.largest == 0.0) return add_number(message);
  return message.error.absolute < message.largest;  // else nothing is known of it
}

bool LinearPass::eliminate_all(EntryWatch& watch) {
  for (const int m : tree_.constants) {
    const double value = graph_.factor(m).log_values().front();
    log_z_.add(value);
    error_ += value == kNegInf ? 0.0 : kEpsilon * (1.0 + std::abs(value));
  }
  for (const int v : order_) {
    if (log_z_.value() == kNegInf) return true;
    watch.check_going_on();
    if (!eliminate(v, watch)) return false;
    watch.add(num_entries(v));
  }
  // 2^exponent, exactly but for the rounding of ln 2 itself.
  const auto exponent = static_cast<double>(exponent_);
  log_z_.add(exponent * kLn2High);
  log_z_.add(exponent * kLn2Low);
  error_ += std::abs(exponent) * 0x1.0p-90;
  return true;
}

// The downward step at v: consumes p(x_sep(v)), hands its children theirs, returns the marginal of v.
std::vector<double> LinearPass::sum_bucket(int v, std::vector<TableMemory>& probs, EntryWatch& watch) const {
  const Bucket& bucket = tree_.buckets[v];
  TableMemory ratio = std::move(probs[v]);
  // p(x_v, x_sep) = b(x_v, x_sep) p(x_sep) / m(x_sep), with m as it was before it was scaled
  const LinearTable& message = messages_[v];
  const double scale = std::ldexp(1.0, -message.exponent);
  options_.team->run(ratio.size(), kGrainEntries, [&](std::size_t first, std::size_t last, int /*worker*/) {
    for (std::size_t i = first; i < last; ++i) {
      const double m = message.values.data()[i];
      ratio.data()[i] = m == 0.0 ? 0.0 : ratio.data()[i] / m * scale;
    }
  });
  LinearBucket product(graph_, v, bucket.separator, inputs(v));
  std::vector<int> scope = {v};
  scope.insert(scope.end(), bucket.separator.begin(), bucket.separator.end());
  std::vector<std::span<const int>> child_separators;
  for (const int c : bucket.children) child_separators.emplace_back(messages_[c].scope);
  SeparatorSums sums(graph_, scope, std::move(child_separators), options_.pool);
  std::vector<double> marginal = BucketMoments(product, ratio.span(), sums, *options_.team).add_all(watch);
  sums.hand_out([&](int child, TableMemory p) { probs[bucket.children[child]] = std::move(p); });
  return marginal;
}

Marginals LinearPass::marginals(EntryWatch& watch) const {
  Marginals result(order_.size());
  std::vector<TableMemory> probs(order_.size());
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    watch.check_going_on();
    if (tree_.buckets[*v].separator.empty()) {
      probs[*v] = TableMemory(1, nullptr);
      probs[*v].data()[0] = 1.0;
    }
    result[*v] = sum_bucket(*v, probs, watch);
    watch.add(num_entries(*v));
    // Takes off the rounding of the chain of buckets above.
    const double total = std::accumulate(result[*v].begin(), result[*v].end(), 0.0);
    for (double& p : result[*v]) p /= total;
  }
  return result;
}

void LinearPass::conditional(int v, std::span<const int> x, std::span<double> probabilities) const {
  std::fill(probabilities.begin(), probabilities.end(), 1.0);
  const auto multiply = [&](const LinearTable& table) {
    const TableRow row = table_row(graph_, table.scope, v, x);
    for (std::size_t a = 0; a < probabilities.size(); ++a)
      probabilities[a] *= table.values.data()[row.first + a * row.stride];
  };
  for (const LinearTable& factor : factors_[v]) multiply(factor);
  for (const int c : tree_.buckets[v].children) multiply(messages_[c]);
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& p : probabilities) p = sum > 0.0 ? p / sum : 0.0;
}

}  // namespace

std::shared_ptr<const EliminationPass> linear_pass(const FactorGraph& graph, const std::vector<int>& order,
                                                   const PassOptions& options, EntryWatch& watch) {
  auto pass = std::make_shared<LinearPass>(graph, order, options);
  if (!pass->eliminate_all(watch)) return nullptr;
  return pass;
}

}  // namespace treesample
