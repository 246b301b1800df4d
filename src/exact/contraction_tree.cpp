#include "exact/contraction_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "math/dispatched.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr const char* kContractionTree = "elimination order";

// Sorts the scopes and drops those that are part of another one. The tables that could contain a scope are those of its
// rarest variable.
void absorb(std::vector<std::vector<int>>& scopes, std::size_t num_variables) {
  std::stable_sort(scopes.begin(), scopes.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::vector<int>> kept_with(num_variables);
  std::vector<std::vector<int>> kept;
  for (std::vector<int>& scope : scopes) {
    if (scope.empty()) continue;
    const int rarest = *std::min_element(scope.begin(), scope.end(), [&](int a, int b) {
      return std::pair(kept_with[a].size(), a) < std::pair(kept_with[b].size(), b);
    });
    const bool is_part = std::any_of(kept_with[rarest].begin(), kept_with[rarest].end(), [&](int other) {
      return std::includes(kept[other].begin(), kept[other].end(), scope.begin(), scope.end());
    });
    if (is_part) continue;
    for (const int v : scope) kept_with[v].push_back(static_cast<int>(kept.size()));
    kept.push_back(std::move(scope));
  }
  scopes = std::move(kept);
}

}  // namespace

TableSets::TableSets(std::vector<std::vector<int>> scopes, std::span<const double> log2_num_states)
    : scopes_(std::move(scopes)), place_(log2_num_states.size(), 0) {
  for (std::vector<int>& scope : scopes_) std::sort(scope.begin(), scope.end());
  std::vector<bool> is_left(log2_num_states.size(), true);
  for (bool goes_on = true; goes_on;) {
    absorb(scopes_, log2_num_states.size());
    std::vector<int> count(log2_num_states.size(), 0);
    for (const std::vector<int>& scope : scopes_) {
      for (const int v : scope) ++count[v];
    }
    goes_on = false;
    for (std::size_t v = 0; v < count.size(); ++v) {
      if (!is_left[v] || count[v] > 1) continue;
      is_left[v] = false;
      goes_on = goes_on || count[v] == 1;
      removed_first_.push_back(static_cast<int>(v));
    }
    for (std::vector<int>& scope : scopes_) std::erase_if(scope, [&](int v) { return !is_left[v]; });
  }
  std::map<double, std::vector<int>> by_size;
  for (std::size_t v = 0; v < is_left.size(); ++v) {
    if (is_left[v]) by_size[log2_num_states[v]].push_back(static_cast<int>(v));
  }
  constexpr std::size_t kBits = 64;
  for (const auto& [log2_states, variables] : by_size) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (i % kBits == 0) {
        word_weights_.push_back(log2_states);
        variable_at_.resize(variable_at_.size() + kBits, -1);
      }
      place_[variables[i]] = kBits * (word_weights_.size() - 1) + i % kBits;
      variable_at_[place_[variables[i]]] = variables[i];
    }
  }
}

ContractionTree::ContractionTree(const TableSets& sets, std::span<const int> order)
    : sets_(&sets), num_words_(sets.num_words()), num_leaves_(static_cast<int>(sets.num_tables())) {
  const std::size_t most = num_leaves_ == 0 ? 0 : 2 * sets.num_tables() - 1;
  left_.assign(most, -1);
  right_.assign(most, -1);
  log2_product_.assign(most, 0.0);
  open_.assign(most * num_words_, 0);
  std::vector<std::vector<int>> nodes_with(order.size());
  for (num_nodes_ = 0; num_nodes_ < num_leaves_; ++num_nodes_) {
    for (const int v : sets.scopes()[num_nodes_]) {
      open(num_nodes_)[sets.place(v) / 64] |= Word{1} << (sets.place(v) % 64);
      nodes_with[v].push_back(num_nodes_);
    }
  }
  std::vector<int> parent(most, -1);
  const auto top = [&](int node) {
    while (parent[node] >= 0) {
      if (parent[parent[node]] >= 0) parent[node] = parent[parent[node]];
      node = parent[node];
    }
    return node;
  };
  const auto join_all = [&](std::vector<int> nodes) {
    for (int& node : nodes) node = top(node);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    using Entry = std::pair<double, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (const int node : nodes) queue.emplace(weight(open(node)), node);
    while (queue.size() > 1) {
      const int a = queue.top().second;
      queue.pop();
      const int b = queue.top().second;
      queue.pop();
      const int joined = join(a, b);
      parent[a] = parent[b] = joined;
      queue.emplace(weight(open(joined)), joined);
    }
    return queue.top().second;
  };
  for (const int v : order) {
    if (nodes_with[v].empty()) continue;
    const int joined = join_all(nodes_with[v]);
    open(joined)[sets.place(v) / 64] &= ~(Word{1} << (sets.place(v) % 64));
  }
  if (num_leaves_ == 0) return;
  std::vector<int> all(sets.num_tables());
  std::iota(all.begin(), all.end(), 0);
  root_ = join_all(std::move(all));
  set_open();
}

// The result still has variables that only its part of the tree has; set_open() takes them out.
int ContractionTree::join(int left, int right) {
  const int node = num_nodes_++;
  left_[node] = left;
  right_[node] = right;
  for (std::size_t w = 0; w < num_words_; ++w) open(node)[w] = open(left)[w] | open(right)[w];
  return node;
}

std::vector<int> ContractionTree::nodes_from_root() const {
  std::vector<int> nodes;
  if (root_ >= 0) nodes.push_back(root_);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_leaf(nodes[i])) continue;
    const int left = left_[nodes[i]], right = right_[nodes[i]];
    nodes.push_back(left);
    nodes.push_back(right);
  }
  return nodes;
}

// A variable is open at a node if tables below have it and tables elsewhere.
void ContractionTree::set_open() {
  const std::vector<int> nodes = nodes_from_root();
  std::vector<Word> elsewhere(open_.size(), 0);
  const auto outside = [&](int node) { return elsewhere.data() + static_cast<std::size_t>(node) * num_words_; };
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (is_leaf(*node)) continue;
    for (std::size_t w = 0; w < num_words_; ++w) open(*node)[w] = open(left_[*node])[w] | open(right_[*node])[w];
  }
  for (const int node : nodes) {
    if (is_leaf(node)) continue;
    for (std::size_t w = 0; w < num_words_; ++w) {
      outside(left_[node])[w] = outside(node)[w] | open(right_[node])[w];
      outside(right_[node])[w] = outside(node)[w] | open(left_[node])[w];
    }
  }
  for (std::size_t i = 0; i < open_.size(); ++i) open_[i] &= elsewhere[i];
  for (const int node : nodes) {
    if (!is_leaf(node)) log2_product_[node] = product_weight(node);
  }
}

double ContractionTree::weight(const Word* set) const {
  double sum = 0.0;
  for (std::size_t w = 0; w < num_words_; ++w) sum += sets_->word_weights()[w] * std::popcount(set[w]);
  return sum;
}

double ContractionTree::product_weight(int node) const {
  double sum = 0.0;
  for (std::size_t w = 0; w < num_words_; ++w) {
    sum += sets_->word_weights()[w] * std::popcount(open(left_[node])[w] | open(right_[node])[w]);
  }
  return sum;
}

double ContractionTree::log2_work() const {
  double largest = 0.0, sum = 0.0;
  for (int node = num_leaves_; node < num_nodes_; ++node) largest = std::max(largest, log2_product_[node]);
  for (int node = num_leaves_; node < num_nodes_; ++node) sum += std::exp2(log2_product_[node] - largest);
  return sum == 0.0 ? 0.0 : largest + std::log2(sum);
}

// ---- Annealing -----------------------------------------------------------------------------------------------------

namespace {

// -log of evenly spaced numbers in (0, 1): how much worse a proposal may be, in units of the temperature.
class Allowances {
 public:
  static constexpr int kBits = 12;

  Allowances() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = -std::log((static_cast<double>(i) + 0.5) / static_cast<double>(values_.size()));
    }
  }
  [[nodiscard]] double operator[](std::size_t i) const { return values_[i]; }

 private:
  std::array<double, std::size_t{1} << kBits> values_{};
};

// log2(1 + 2^-d) for evenly spaced d >= 0, beyond which it is next to nothing: the difference between the logarithm of
// a sum of two numbers and that of the larger one. Looking it up takes a tenth of the time of computing it, and the
// orders do not depend on the system's library of functions.
class SumTable {
 public:
  SumTable() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = std::log2(1.0 + std::exp2(-static_cast<double>(i) / kPerBit));
    }
    values_.back() = 0.0;
  }
  // log2(2^a + 2^b).
  [[nodiscard]] TS_INLINE double sum(double a, double b) const {
    const double difference = std::min(std::abs(a - b), kMost);
    return std::max(a, b) + values_[static_cast<std::size_t>(difference * kPerBit + 0.5)];
  }

 private:
  static constexpr double kPerBit = 64.0, kMost = 16.0;
  std::array<double, 1025> values_{};
};

// Everything that a proposal reads and changes.
struct TreeView {
  int* left;
  int* right;
  TableSets::Word* open;
  double* log2_product;
  const double* word_weights;
  std::size_t num_words;
  std::uint32_t first_inner, num_inner;
  const Allowances* allowances;
  const SumTable* sums;
};

// Proposes (A C) B in place of (A B) C at random places, `count` times.
TS_DISPATCHED void propose(const TreeView& tree, std::int64_t count, double temperature, Random& random,
                           TableSets::Word* scratch) {
  const std::size_t num_words = tree.num_words;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random.bits();
    const auto node = static_cast<std::size_t>(tree.first_inner + (((bits >> 32) * tree.num_inner) >> 32));
    int inner = tree.left[node], other = tree.right[node];
    if ((bits & 1) != 0) std::swap(inner, other);
    const auto is_leaf = [&](int x) { return static_cast<std::uint32_t>(x) < tree.first_inner; };
    if (is_leaf(inner)) {
      if (is_leaf(other)) continue;
      std::swap(inner, other);
    }
    int kept = tree.left[inner], moved = tree.right[inner];
    if ((bits & 2) != 0) std::swap(kept, moved);
    const TableSets::Word* const a = tree.open + static_cast<std::size_t>(kept) * num_words;
    const TableSets::Word* const b = tree.open + static_cast<std::size_t>(moved) * num_words;
    const TableSets::Word* const c = tree.open + static_cast<std::size_t>(other) * num_words;
    const TableSets::Word* const top = tree.open + node * num_words;
    double lower = 0.0, upper = 0.0;
    for (std::size_t w = 0; w < num_words; ++w) {
      const TableSets::Word both = a[w] | c[w];
      const TableSets::Word result = both & (b[w] | top[w]);
      scratch[w] = result;
      lower += tree.word_weights[w] * std::popcount(both);
      upper += tree.word_weights[w] * std::popcount(result | b[w]);
    }
    const double allowed = temperature * (*tree.allowances)[(bits >> 2) & ((1U << Allowances::kBits) - 1)];
    const double before = tree.sums->sum(tree.log2_product[inner], tree.log2_product[node]);
    if (tree.sums->sum(lower, upper) > before + allowed) continue;
    tree.left[inner] = kept;
    tree.right[inner] = other;
    tree.left[node] = inner;
    tree.right[node] = moved;
    std::memcpy(tree.open + static_cast<std::size_t>(inner) * num_words, scratch, num_words * sizeof(*scratch));
    tree.log2_product[inner] = lower;
    tree.log2_product[node] = upper;
  }
}

}  // namespace

void ContractionTree::anneal(const Annealing& options, Random& random, StopCheck& stop, std::int64_t* done) {
  static const Allowances allowances;
  static const SumTable sums;
  if (num_nodes_ - num_leaves_ < 2) return;
  const TreeView view{.left = left_.data(),
                      .right = right_.data(),
                      .open = open_.data(),
                      .log2_product = log2_product_.data(),
                      .word_weights = sets_->word_weights().data(),
                      .num_words = num_words_,
                      .first_inner = static_cast<std::uint32_t>(num_leaves_),
                      .num_inner = static_cast<std::uint32_t>(num_nodes_ - num_leaves_),
                      .allowances = &allowances,
                      .sums = &sums};
  std::vector<Word> scratch(num_words_);
  constexpr std::int64_t kAtATime = 1024;
  std::int64_t from_start = 0;
  std::int64_t& at = done ? *done : from_start;
  while (at < options.num_proposals) {
    const double share = static_cast<double>(at) / static_cast<double>(options.num_proposals);
    const double temperature =
        options.first_temperature * std::pow(options.last_temperature / options.first_temperature, share);
    const std::int64_t count = std::min(kAtATime, options.num_proposals - at);
    propose(view, count, temperature, random, scratch.data());
    at += kAtATime;
    stop.go_on(kContractionTree, kAtATime * static_cast<std::int64_t>(8 + num_words_));
  }
}

std::vector<int> ContractionTree::order() const {
  std::vector<int> order = sets_->removed_first();
  const std::vector<int> nodes = nodes_from_root();
  // The memory that the part of the tree takes at most, and that of its result alone.
  std::vector<double> peak(left_.size(), 0.0), result(left_.size(), 0.0);
  const auto size = [&](int node) { return std::exp2(std::min(weight(open(node)), 1000.0)); };
  const auto goes_first = [&](int a, int b) { return peak[a] - result[a] >= peak[b] - result[b]; };
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (is_leaf(*node)) continue;  // tables are there already
    result[*node] = size(*node);
    int first = left_[*node], second = right_[*node];
    if (!goes_first(first, second)) std::swap(first, second);
    peak[*node] = std::max({peak[first], result[first] + peak[second], result[first] + result[second] + result[*node]});
  }
  std::vector<std::pair<int, bool>> stack;  // with whether the children are done
  if (root_ >= 0) stack.emplace_back(root_, false);
  std::vector<int> removed;
  while (!stack.empty()) {
    const auto [node, is_done] = stack.back();
    stack.pop_back();
    if (is_leaf(node)) continue;
    int first = left_[node], second = right_[node];
    if (!is_done) {
      if (!goes_first(first, second)) std::swap(first, second);
      stack.emplace_back(node, true);
      stack.emplace_back(second, false);
      stack.emplace_back(first, false);
      continue;
    }
    for (std::size_t w = 0; w < num_words_; ++w) {
      for (Word left = (open(first)[w] | open(second)[w]) & ~open(node)[w]; left != 0; left &= left - 1) {
        order.push_back(sets_->variable_at()[64 * w + static_cast<std::size_t>(std::countr_zero(left))]);
      }
    }
  }
  return order;
}

}  // namespace treesample
