// Elimination in the linear domain. Messages are kept as numbers with one power of two per table.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "exact/bucket_chain.hpp"
#include "exact/bucket_moments.hpp"
#include "exact/bucket_tree.hpp"
#include "exact/elimination_pass.hpp"
#include "exact/linear_bucket.hpp"
#include "exact/separator_sums.hpp"
#include "exact/small_bucket.hpp"
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
constexpr double kLeastLargest = 0x1.0p-64;
// Entries of a bucket that one thread works on at a time.
constexpr std::size_t kGrainEntries = std::size_t{1} << 14;

class LinearPass final : public EliminationPass {
 public:
  LinearPass(const FactorGraph& graph, const EliminationPlan& plan, const PassOptions& options)
      : graph_(graph),
        order_(plan.order),
        options_(options),
        tree_(graph, plan),
        factors_(order_.size()),
        messages_(order_.size()) {}

  // False where too much may have been lost.
  bool eliminate_all(EntryWatch& watch);
  [[nodiscard]] Marginals marginals(EntryWatch& watch) const override;
  void conditional(int v, std::span<const int> x, std::span<double> probabilities) const override;

 private:
  using Bucket = BucketTree::Bucket;

  [[nodiscard]] std::vector<const LinearTable*> inputs(int v) const;
  [[nodiscard]] double num_entries(int v) const;
  [[nodiscard]] double num_entries(const BucketChain& chain) const;
  bool take_factors(int v);
  void keep_product_small(int v);
  [[nodiscard]] bool is_product_small(const BucketChain& chain) const;
  [[nodiscard]] double most_of_largest(int v) const;
  void set_error(int v, LinearTable& message, const Extent& extent) const;
  [[nodiscard]] std::vector<LinearBucket> buckets(const BucketChain& chain);
  [[nodiscard]] std::vector<Extent> fill(const BucketChain& chain, LinearTable& message, EntryWatch& watch);
  bool eliminate(const BucketChain& chain, EntryWatch& watch);
  bool eliminate_taken(const BucketChain& chain, EntryWatch& watch);
  [[nodiscard]] bool is_small(int v) const { return SmallBucket::fits(graph_, v, tree_.buckets[v].separator); }
  [[nodiscard]] SmallBucket small(int v) const { return {graph_, v, tree_.buckets[v].separator, inputs(v)}; }
  bool eliminate_small(int v);
  bool scale(LinearTable& message);
  void forget_inputs(int v);
  std::vector<double> distribute_small(int v, std::vector<TableMemory>& probs) const;
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

double LinearPass::num_entries(const BucketChain& chain) const {
  double sum = 0.0;
  for (const int v : chain.variables) sum += num_entries(v);
  return sum;
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

// The same of a chain, whose messages are not known yet: an entry is at most the number of states times the product of
// the largest ones.
bool LinearPass::is_product_small(const BucketChain& chain) const {
  double product = 1.0;
  for (const int v : chain.variables) {
    product *= graph_.num_states(v);
    for (const LinearTable* table : inputs(v)) product *= std::max(1.0, table->largest);
  }
  return product <= LinearError::kMostProduct;
}

// An entry of the message of v is at most this, whether it was computed or not.
double LinearPass::most_of_largest(int v) const {
  double most = graph_.num_states(v);
  for (const LinearTable* table : inputs(v)) most *= table->largest + table->error.absolute;
  return LinearError::kSlack * most;
}

// By linear_error.hpp.
void LinearPass::set_error(int v, LinearTable& message, const Extent& extent) const {
  const std::vector<const LinearTable*> tables = inputs(v);
  const auto num_states = static_cast<double>(graph_.num_states(v));
  const auto num_tables = static_cast<double>(tables.size());
  double product_of_largest = 1.0, product_of_least = 1.0;
  for (const LinearTable* table : tables) {
    product_of_largest *= table->largest + table->error.absolute;
    product_of_least *= std::min(1.0, table->least);
  }
  LinearError& error = message.error;
  // Below kTiny may be what was put to 0, or what underflowed before it was seen, errors of the inputs included.
  bool is_lossy = extent.is_lossy || product_of_least < LinearError::kNoUnderflow;
  for (const LinearTable* table : tables) {
    error.relative += table->error.relative;
    if (table->error.absolute > 0.0) {
      is_lossy = true;
      const double others = product_of_largest / (table->largest + table->error.absolute);
      error.absolute += LinearError::kSlack * num_states * table->error.absolute * others;
    }
  }
  error.relative += kEpsilon / 2.0 * (num_tables + num_states) * LinearError::kSlack;
  if (is_lossy) error.absolute += 2.0 * LinearError::kTiny;
}

std::vector<LinearBucket> LinearPass::buckets(const BucketChain& chain) {
  std::vector<LinearBucket> buckets;
  buckets.reserve(chain.variables.size());  // each has the address of the one before
  for (std::size_t i = 0; i < chain.variables.size(); ++i) {
    const int v = chain.variables[i];
    std::vector<const LinearTable*> tables = inputs(v);
    LinearTable* const below = i > 0 ? &messages_[chain.variables[i - 1]] : nullptr;
    std::erase(tables, below);
    buckets.emplace_back(graph_, v, tree_.buckets[v].separator, tables, chain.num_inner[i],
                         i > 0 ? &buckets.back() : nullptr, i > 0 ? below->values.data() : nullptr);
  }
  return buckets;
}

// The message of the last bucket, and the extents of all of them.
std::vector<Extent> LinearPass::fill(const BucketChain& chain, LinearTable& message, EntryWatch& watch) {
  const std::vector<LinearBucket> buckets = this->buckets(chain);
  const LinearBucket& last_bucket = buckets.back();
  const std::size_t length = buckets.size(), block_size = last_bucket.block_size();
  const std::size_t block_entries = block_size * last_bucket.num_states() * length;
  const auto num_threads = static_cast<std::size_t>(options_.team->size());
  struct Own {
    LinearBucket::Cursor cursor;
    Extent extent;
  };
  std::vector<std::optional<Own>> owns(num_threads);
  std::size_t num_done = 0;  // as the calling thread sees it
  const auto fill_blocks = [&](std::size_t first, std::size_t last, int worker) {
    std::optional<Own>& own = owns[static_cast<std::size_t>(worker)];
    if (!own) own.emplace(LinearBucket::Cursor(last_bucket, first), Extent());
    for (std::size_t block = first; block < last; ++block) {
      double* const out = message.values.data() + block * block_size;
      own->cursor.move_to(block);
      own->cursor.sum(out);
      own->extent.include({out, block_size});
    }
    if (worker == 0) num_done += (last - first) * block_entries * num_threads;
  };
  const std::size_t grain = std::max<std::size_t>(1, kGrainEntries / block_entries);
  const double most = num_entries(chain);
  if (last_bucket.num_blocks() <= grain) {
    fill_blocks(0, last_bucket.num_blocks(), 0);
  } else {
    options_.team->run(last_bucket.num_blocks(), grain, fill_blocks,
                       [&] { return watch.is_asked_to_stop(std::min(most, static_cast<double>(num_done))); });
  }
  std::vector<Extent> extents(length);  // the last bucket first
  for (const std::optional<Own>& own : owns) {
    if (!own) continue;
    extents.front().include(own->extent);
    own->cursor.add_extents_below(std::span(extents).subspan(1));
  }
  // Where a block was left out, so were those below that it is made of.
  for (std::size_t i = 1; i < length; ++i) {
    extents[i].is_partial = extents[i].is_partial || extents[i - 1].is_partial;
  }
  std::reverse(extents.begin(), extents.end());
  return extents;
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

// One bucket after the other where products of the whole chain may become too large.
bool LinearPass::eliminate(const BucketChain& chain, EntryWatch& watch) {
  for (const int v : chain.variables) {
    if (!take_factors(v)) return true;
    keep_product_small(v);
  }
  if (chain.variables.size() == 1 || is_product_small(chain)) return eliminate_taken(chain, watch);
  for (const int v : chain.variables) {
    keep_product_small(v);
    const BucketChain alone{{v}, {num_inner_variables(graph_, tree_.buckets[v].separator)}};
    if (!eliminate_taken(alone, watch)) return false;
    if (log_z_.value() == kNegInf) return true;
  }
  return true;
}

bool LinearPass::eliminate_taken(const BucketChain& chain, EntryWatch& watch) {
  const int last = chain.variables.back();
  LinearTable& stored = messages_[last];
  for (const int v : chain.variables) {
    if (v != last && !options_.keep_messages) continue;
    messages_[v].values = TableMemory(num_table_entries(graph_, tree_.buckets[v].separator), options_.pool);
  }
  const std::vector<Extent> extents = fill(chain, stored, watch);
  bool is_known = true;
  for (std::size_t i = 0; i < chain.variables.size() && is_known; ++i) {
    const int v = chain.variables[i];
    LinearTable& message = messages_[v];
    message.scope = tree_.buckets[v].separator;
    message.largest = extents[i].is_partial ? most_of_largest(v) : extents[i].largest;
    message.least = extents[i].least;
    set_error(v, message, extents[i]);
    // Of a partial message only a bound is known, which may have underflowed.
    if (message.largest == 0.0) return !extents[i].is_partial && add_number(message);
    is_known = message.error.absolute < message.largest;  // else nothing is known of it
  }
  if (!is_known) return false;
  for (const int v : chain.variables) forget_inputs(v);
  return scale(stored);
}

bool LinearPass::scale(LinearTable& message) {
  const bool is_wide = message.largest > kWideRange || message.largest < 1.0 / kWideRange;
  if (is_wide || message.values.size() <= kSmallTable) message.normalise();
  exponent_ += message.exponent;
  return !message.scope.empty() || add_number(message);
}

void LinearPass::forget_inputs(int v) {
  if (options_.keep_messages) return;
  factors_[v].clear();
  for (const int c : tree_.buckets[v].children) messages_[c].values = TableMemory();
}

bool LinearPass::eliminate_small(int v) {
  if (!take_factors(v)) return true;
  LinearTable& message = messages_[v];
  message.scope = tree_.buckets[v].separator;
  small(v).sum(message);
  if (message.largest == 0.0) return add_number(message);
  if (!(message.error.absolute < message.largest)) return false;
  forget_inputs(v);
  return scale(message);
}

bool LinearPass::eliminate_all(EntryWatch& watch) {
  for (const int m : tree_.constants) {
    const double value = graph_.factor(m).log_values().front();
    log_z_.add(value);
    error_ += value == kNegInf ? 0.0 : kEpsilon * (1.0 + std::abs(value));
  }
  for (std::span<const int> order = order_; !order.empty();) {
    if (log_z_.value() == kNegInf) return true;
    watch.check_going_on();
    const bool is_alone = is_small(order.front());
    const BucketChain chain = is_alone ? BucketChain{{order.front()}, {0}} : longest_chain(graph_, tree_, order);
    if (!(is_alone ? eliminate_small(order.front()) : eliminate(chain, watch))) return false;
    watch.add(num_entries(chain));
    order = order.subspan(chain.variables.size());
  }
  // 2^exponent, exactly but for the rounding of ln 2 itself.
  const auto exponent = static_cast<double>(exponent_);
  const double high = exponent * kLn2High;
  log_z_.add(high);
  if (const double rest = std::fma(exponent, kLn2High, -high); rest != 0.0) log_z_.add(rest);  // from 2^17 on
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
  LinearBucket product(graph_, v, bucket.separator, inputs(v), num_inner_variables(graph_, bucket.separator));
  std::vector<int> scope = {v};
  scope.insert(scope.end(), bucket.separator.begin(), bucket.separator.end());
  std::vector<std::span<const int>> child_separators;
  for (const int c : bucket.children) child_separators.emplace_back(messages_[c].scope);
  SeparatorSums sums(graph_, scope, std::move(child_separators), options_.pool);
  std::vector<double> marginal = BucketMoments(product, ratio.span(), sums, *options_.team).add_all(watch);
  sums.hand_out([&](int child, TableMemory p) { probs[bucket.children[child]] = std::move(p); });
  return marginal;
}

std::vector<double> LinearPass::distribute_small(int v, std::vector<TableMemory>& probs) const {
  SmallBucket bucket = small(v);
  const TableMemory of_separator = std::move(probs[v]);
  std::vector<double> marginal = bucket.distribute(of_separator.span());
  for (const int c : tree_.buckets[v].children) probs[c] = bucket.for_child(tree_.buckets[c].separator, marginal);
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
    result[*v] = is_small(*v) ? distribute_small(*v, probs) : sum_bucket(*v, probs, watch);
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
    double largest = 0.0;
    for (std::size_t a = 0; a < probabilities.size(); ++a)
      largest = std::max(largest, probabilities[a] *= table.values.data()[row.first + a * row.stride]);
    if (largest >= kLeastLargest) return;  // products of many tables may underflow
    for (double& p : probabilities) p *= largest > 0.0 ? 1.0 / largest : 0.0;
  };
  for (const LinearTable& factor : factors_[v]) multiply(factor);
  for (const int c : tree_.buckets[v].children) multiply(messages_[c]);
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& p : probabilities) p = sum > 0.0 ? p / sum : 0.0;
}

}  // namespace

std::shared_ptr<const EliminationPass> linear_pass(const FactorGraph& graph, const EliminationPlan& plan,
                                                   const PassOptions& options, EntryWatch& watch) {
  auto pass = std::make_shared<LinearPass>(graph, plan, options);
  if (!pass->eliminate_all(watch)) return nullptr;
  return pass;
}

}  // namespace treesample
