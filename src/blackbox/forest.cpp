#include "treesample/blackbox/forest.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "blackbox/choose_points.hpp"
#include "blackbox/depth_warp.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kShareOfVariables = 0.5;
constexpr std::size_t kFewestToSplit = 3;  // values of a node
constexpr int kDeepest = 40;
constexpr std::size_t kMostInSet = 64;  // states of a variable whose sets are tried

// A question about the state of one variable.
struct Split {
  enum class Kind { kRank, kState, kSet };  // is it at most `rank`, is it `rank`, is it in `set`

  double gain = 0.0;
  int variable = -1;  // -1: none
  Kind kind = Kind::kRank;
  int rank = 0;           // of the state
  std::uint64_t set = 0;  // of states, as bits

  [[nodiscard]] bool is_yes(int at) const {
    if (kind == Kind::kSet) return (set >> at & 1) != 0;
    return kind == Kind::kRank ? at <= rank : at == rank;
  }
};

struct Node {
  Split split;
  int yes = 0, no = 0;
  double sum = 0.0, count = 0.0;
};

struct Data {
  int width = 0;
  std::vector<int> ranks;  // of the states, row-major
  std::vector<double> values;
};

struct Tree {
  std::vector<Node> nodes;
  std::vector<unsigned char> has_seen;  // by value

  [[nodiscard]] std::size_t leaf(const int* ranks) const {
    std::size_t at = 0;
    while (nodes[at].split.variable >= 0) {
      const Node& node = nodes[at];
      at = static_cast<std::size_t>(node.split.is_yes(ranks[node.split.variable]) ? node.yes : node.no);
    }
    return at;
  }
  [[nodiscard]] double predict(const int* ranks) const {
    const Node& node = nodes[leaf(ranks)];
    return node.sum / node.count;
  }
};

class Grower {
 public:
  Grower(const Data& data, std::span<const int> num_states, std::span<const unsigned char> is_ordered, Random& random)
      : data_(data), num_states_(num_states), is_ordered_(is_ordered), random_(random) {}

  Tree grow() {
    Tree tree;
    tree.has_seen.assign(data_.values.size(), 0);
    std::vector<std::size_t> drawn(data_.values.size());
    for (std::size_t& i : drawn) {
      i = random_.below(data_.values.size());
      tree.has_seen[i] = 1;
    }
    grow(tree, drawn, 0);
    return tree;
  }

 private:
  int grow(Tree& tree, std::span<std::size_t> own, int depth) {
    const auto place = static_cast<int>(tree.nodes.size());
    Node node{.count = static_cast<double>(own.size())};
    for (const std::size_t i : own) node.sum += data_.values[i];
    tree.nodes.push_back(node);
    if (own.size() < kFewestToSplit || depth >= kDeepest) return place;
    const Split split = best_split(own, node);
    if (split.variable < 0) return place;
    const auto middle =
        std::partition(own.begin(), own.end(), [&](std::size_t i) { return split.is_yes(rank_of(i, split.variable)); });
    const auto num_yes = static_cast<std::size_t>(middle - own.begin());
    const int yes = grow(tree, own.first(num_yes), depth + 1), no = grow(tree, own.subspan(num_yes), depth + 1);
    Node& here = tree.nodes[static_cast<std::size_t>(place)];
    here.split = split;
    here.yes = yes;
    here.no = no;
    return place;
  }

  Split best_split(std::span<const std::size_t> own, const Node& node) {
    Split best;
    const int width = data_.width;
    const int tries = std::max(1, static_cast<int>(std::ceil(kShareOfVariables * width)));
    const std::vector<int> order = random_.permutation(width);
    // Where none of the first variables splits anything, further ones are tried.
    for (int k = 0; k < width && (k < tries || best.variable < 0); ++k) {
      const int v = order[static_cast<std::size_t>(k)];
      const auto count = static_cast<std::size_t>(num_states_[static_cast<std::size_t>(v)]);
      sums_.assign(count, 0.0);
      counts_.assign(count, 0.0);
      for (const std::size_t i : own) {
        const auto rank = static_cast<std::size_t>(rank_of(i, v));
        sums_[rank] += data_.values[i];
        counts_[rank] += 1.0;
      }
      const bool is_ordered = is_ordered_[static_cast<std::size_t>(v)] != 0;
      if (is_ordered) try_ranks(v, node, best);
      if (count <= kMostInSet) {
        try_sets(v, node, best);
      } else if (!is_ordered) {
        try_states(v, node, best);
      }
    }
    return best;
  }

  void try_ranks(int v, const Node& node, Split& best) const {
    double sum = 0.0, count = 0.0;
    for (std::size_t rank = 0; rank < sums_.size(); ++rank) {
      sum += sums_[rank];
      count += counts_[rank];
      improve(node, sum, count, {.variable = v, .kind = Split::Kind::kRank, .rank = static_cast<int>(rank)}, best);
    }
  }
  void try_states(int v, const Node& node, Split& best) const {
    for (std::size_t rank = 0; rank < sums_.size(); ++rank) {
      const Split split{.variable = v, .kind = Split::Kind::kState, .rank = static_cast<int>(rank)};
      improve(node, sums_[rank], counts_[rank], split, best);
    }
  }
  // Of all ways to divide the states into two sets, the best one divides them in the order of their means. So states
  // that act alike are found, such as both edges of a range. The set has the low ones: states without values go with
  // the others, so that they are tried before they are given up.
  void try_sets(int v, const Node& node, Split& best) {
    order_.clear();
    for (std::size_t state = 0; state < sums_.size(); ++state) {
      if (counts_[state] > 0.0) order_.push_back(state);
    }
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const double left = sums_[a] * counts_[b], right = sums_[b] * counts_[a];
      return left != right ? left < right : a < b;
    });
    double sum = 0.0, count = 0.0;
    std::uint64_t set = 0;
    for (const std::size_t state : order_) {
      sum += sums_[state];
      count += counts_[state];
      set |= std::uint64_t{1} << state;
      improve(node, sum, count, {.variable = v, .kind = Split::Kind::kSet, .set = set}, best);
    }
  }
  // `sum` and `count` are those of one side.
  static void improve(const Node& node, double sum, double count, Split split, Split& best) {
    const double rest = node.count - count, whole = node.sum * node.sum / node.count;
    if (count == 0.0 || rest == 0.0) return;
    split.gain = sum * sum / count + (node.sum - sum) * (node.sum - sum) / rest - whole;
    if (split.gain > best.gain + 1e-12 * (1.0 + whole)) best = split;
  }

  [[nodiscard]] int rank_of(std::size_t i, int v) const {
    return data_.ranks[i * static_cast<std::size_t>(data_.width) + static_cast<std::size_t>(v)];
  }

  const Data& data_;
  std::span<const int> num_states_;
  std::span<const unsigned char> is_ordered_;
  Random& random_;
  std::vector<double> sums_, counts_;
  std::vector<std::size_t> order_;
};

}  // namespace

void ForestOptions::validate() const {
  check_range("ForestOptions", "num_trees", num_trees, 2, 10'000);
  check_range("ForestOptions", "max_points", max_points, 2, 1'000'000);
}

class Forest::Impl {
 public:
  Impl(const Domain& domain, const ForestOptions& options) : domain_(domain), options_(options) {
    for (int v = 0; v < domain.width(); ++v) {
      is_ordered_.push_back(domain.is_ordered(v) ? 1 : 0);
      std::vector<int> order(static_cast<std::size_t>(domain.num_states[v])), ranks(order.size());
      std::iota(order.begin(), order.end(), 0);
      if (domain.is_ordered(v)) {
        const std::vector<double>& levels = domain.levels[v];
        std::sort(order.begin(), order.end(), [&](int a, int b) { return levels[a] < levels[b]; });
      }
      for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<int>(i);
      ranks_.push_back(std::move(ranks));
    }
  }

  void fit(const ToldValues& all, const ShouldStop& should_stop) {
    trees_.clear();
    used_.clear();
    num_fitted_ = all.size();
    warp_ = DepthWarp(all.values);
    if (!warp_.has_values()) return;
    const ToldValues told = finite_values(all);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.values[i] != kNegInf) places.push_back(i);
    }
    data_ = {.width = domain_.width()};
    for (const std::size_t i : choose_points(told, static_cast<std::size_t>(options_.max_points))) {
      used_.push_back(places[i]);
      append_ranks(told.row(i), data_.ranks);
      data_.values.push_back(warp_.warped(told.values[i]));
    }
    Random random(0, "forest");
    for (int t = 0; t < options_.num_trees && (t < 2 || !should_stop || !should_stop()); ++t) {
      trees_.push_back(Grower(data_, domain_.num_states, is_ordered_, random).grow());
    }
  }

  void add(std::span<const int> x, double value) {
    if (trees_.empty() || value == kNegInf) return;
    std::vector<int> ranks;
    append_ranks(x, ranks);
    for (Tree& tree : trees_) {
      Node& node = tree.nodes[tree.leaf(ranks.data())];
      node.sum += warp_.warped(value);
      node.count += 1.0;
    }
  }

  void predict(std::span<const int> rows, std::span<Prediction> out) const {
    const auto width = static_cast<std::size_t>(domain_.width());
    std::vector<int> ranks;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (trees_.empty()) {
        out[i] = {0.0, 1.0};
        continue;
      }
      ranks.clear();
      append_ranks(rows.subspan(i * width, width), ranks);
      double sum = 0.0, squares = 0.0;
      for (const Tree& tree : trees_) {
        const double value = tree.predict(ranks.data());
        sum += value;
        squares += value * value;
      }
      const auto count = static_cast<double>(trees_.size());
      const double mean = sum / count;
      out[i] = {warp_.value(mean), std::sqrt(std::max(squares / count - mean * mean, 0.0)) * warp_.slope(mean)};
    }
  }

  [[nodiscard]] std::vector<std::optional<double>> held_out() const {
    std::vector<std::optional<double>> result(num_fitted_);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      double sum = 0.0, count = 0.0;
      for (const Tree& tree : trees_) {
        if (tree.has_seen[i] != 0) continue;
        sum += tree.predict(data_.ranks.data() + i * static_cast<std::size_t>(data_.width));
        count += 1.0;
      }
      if (count > 0.0) result[used_[i]] = warp_.value(sum / count);
    }
    return result;
  }

  [[nodiscard]] bool has_values() const { return !trees_.empty(); }
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const {
    return std::make_unique<Drawn>(*this, trees_[random.below(trees_.size())]);
  }

 private:
  class Drawn final : public DrawnFunction {
   public:
    Drawn(const Impl& forest, const Tree& tree)
        : DrawnFunction(forest.domain_.num_states), forest_(forest), tree_(tree) {}
    void values(std::span<const int> rows, std::span<double> out) const override {
      const std::size_t width = num_states().size();
      std::vector<int> ranks;
      for (std::size_t i = 0; i < out.size(); ++i) {
        ranks.clear();
        forest_.append_ranks(rows.subspan(i * width, width), ranks);
        out[i] = forest_.warp_.value(tree_.predict(ranks.data()));
      }
    }

   private:
    const Impl& forest_;
    const Tree& tree_;
  };
  void append_ranks(std::span<const int> x, std::vector<int>& ranks) const {
    for (std::size_t v = 0; v < x.size(); ++v) ranks.push_back(ranks_[v][static_cast<std::size_t>(x[v])]);
  }

  const Domain& domain_;
  ForestOptions options_;
  std::vector<unsigned char> is_ordered_;
  std::vector<std::vector<int>> ranks_;  // of the states of each variable, by level
  DepthWarp warp_;
  Data data_;
  std::vector<Tree> trees_;
  std::size_t num_fitted_ = 0;
  std::vector<std::size_t> used_;  // the places of the values in data_
};

Forest::Forest(Domain domain, const ForestOptions& options) : Surrogate(std::move(domain)) {
  options.validate();
  impl_ = std::make_unique<Impl>(this->domain(), options);
}
Forest::~Forest() = default;

void Forest::fit(const ToldValues& told, const ShouldStop& should_stop) {
  told.validate(domain());
  impl_->fit(told, should_stop);
}

void Forest::add(std::span<const int> x, double value) {
  ToldValues one{.width = domain().width()};
  one.add(domain(), x, value);
  impl_->add(x, value);
}

void Forest::predict(std::span<const int> rows, std::span<Prediction> out) const {
  check_rows("Forest::predict", rows, out.size());
  impl_->predict(rows, out);
}

std::unique_ptr<DrawnFunction> Forest::draw(Random& random) const {
  return impl_->has_values() ? impl_->draw(random) : Surrogate::draw(random);
}

std::vector<std::optional<double>> Forest::held_out() const { return impl_->held_out(); }

}  // namespace treesample
