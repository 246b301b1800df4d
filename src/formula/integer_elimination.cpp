#include "formula/integer_elimination.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "thread_team.hpp"

namespace treesample {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double kMostEntries = 1 << 28;  // of one table
constexpr std::array<std::size_t, 8> kNumbersOfWords = {1, 2, 3, 4, 6, 8, 16, 32};
constexpr std::size_t kGrain = 1024;  // entries that a thread takes at once

template <std::size_t kWords>
void add(std::uint64_t* to, const std::uint64_t* number) {
  Wide carry = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    carry += static_cast<Wide>(to[i]) + number[i];
    to[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
}

template <std::size_t kWords>
void multiply(std::uint64_t* to, const std::uint64_t* number) {
  std::array<std::uint64_t, kWords> product{};
  for (std::size_t i = 0; i < kWords; ++i) {
    if (number[i] == 0) continue;  // most numbers are short
    std::uint64_t carry = 0;
    for (std::size_t j = 0; i + j < kWords; ++j) {
      const Wide term = static_cast<Wide>(number[i]) * to[j] + product[i + j] + carry;
      product[i + j] = static_cast<std::uint64_t>(term);
      carry = static_cast<std::uint64_t>(term >> 64);
    }
  }
  std::copy(product.begin(), product.end(), to);
}

template <std::size_t kWords>
bool is_zero(const std::uint64_t* number) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kWords; ++i) all |= number[i];
  return all == 0;
}

// Of the entries at the sums of one offset from each list from `d` on.
void forbid(std::vector<char>& is_allowed, const std::vector<std::vector<std::size_t>>& offsets, std::size_t d,
            std::size_t place) {
  if (d == offsets.size()) {
    is_allowed[place] = 0;
    return;
  }
  for (const std::size_t offset : offsets[d]) forbid(is_allowed, offsets, d + 1, place + offset);
}

}  // namespace

IntegerElimination::IntegerElimination(const CountProblem& problem, const std::vector<ExactStates>& weights,
                                       const std::vector<int>& order)
    : problem_(problem), weights_(weights), position_(problem.variables.size(), 0) {
  double log2_count = 2.0;  // with the sign, and rounding
  for (std::size_t v = 0; v < problem.variables.size(); ++v) {
    is_possible_ = is_possible_ && !problem.variables[v].is_hidden;
    double largest = 0.0;
    for (std::size_t s = 0; !weights.empty() && s < weights[v].size(); ++s) {
      if (!weights[v][s].is_zero()) largest = std::max(largest, weights[v][s].log_magnitude());
    }
    log2_count += std::log2(num_states(static_cast<int>(v))) + 1.000001 * largest / std::log(2.0);
  }
  const auto* const size = std::find_if(kNumbersOfWords.begin(), kNumbersOfWords.end(), [&](std::size_t words) {
    return 64.0 * static_cast<double>(words) >= log2_count;
  });
  is_possible_ = is_possible_ && size != kNumbersOfWords.end() && order.size() == problem.variables.size();
  if (!is_possible_) return;
  num_words_ = *size;
  make_buckets(order);
  if (is_possible_) predict();
}

void IntegerElimination::make_buckets(const std::vector<int>& order) {
  buckets_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    position_[order[i]] = static_cast<int>(i);
    buckets_[i].variable = order[i];
  }
  const auto is_later = [&](int a, int b) { return position_[a] > position_[b]; };
  const auto join = [&](Bucket& bucket, const std::vector<int>& scope) {
    std::vector<int> joined;
    std::set_union(bucket.scope.begin(), bucket.scope.end(), scope.begin(), scope.end(), std::back_inserter(joined),
                   is_later);
    bucket.scope = std::move(joined);
  };
  for (std::size_t c = 0; c < problem_.clauses.size(); ++c) {
    std::vector<int> scope;
    for (const Literal literal : problem_.clauses[c]) scope.push_back(problem_.variable_of_atom[atom_of(literal)]);
    std::sort(scope.begin(), scope.end(), is_later);
    scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
    if (scope.empty()) {
      is_possible_ = false;  // the empty clause, which the search sees at once
      return;
    }
    Bucket& bucket = buckets_[position_[scope.back()]];
    join(bucket, scope);
    bucket.clauses.push_back(static_cast<int>(c));
  }
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& bucket = buckets_[i];
    if (!bucket.scope.empty() && bucket.scope.back() == bucket.variable) bucket.scope.pop_back();
    bucket.num_entries = 1.0;
    for (const int v : bucket.scope) bucket.num_entries *= num_states(v);
    if (!(bucket.num_entries * num_states(bucket.variable) <= kMostEntries)) {
      is_possible_ = false;
      return;
    }
    if (bucket.scope.empty()) continue;
    Bucket& next = buckets_[position_[bucket.scope.back()]];
    join(next, bucket.scope);
    next.tables.push_back(static_cast<int>(i));
  }
}

// Seconds for an entry and for a product of two numbers: roughly, which costs no more than the difference.
void IntegerElimination::predict() {
  const auto words = static_cast<double>(num_words_);
  const double per_product = 2.5e-9 + 0.5e-9 * words * words, per_entry = 1.5e-9 + 1e-9 * words;
  double now = 0.0;
  for (const Bucket& bucket : buckets_) {
    const double num_entries = bucket.num_entries * num_states(bucket.variable);
    const bool has_weights = problem_.variables[bucket.variable].has_weights;
    const double num_products = static_cast<double>(bucket.tables.size()) + (has_weights ? 1.0 : 0.0);
    seconds_ += num_entries * (per_entry + per_product * num_products);
    for (const int c : bucket.clauses) {
      seconds_ += 1e-9 * num_entries / std::exp2(static_cast<double>(problem_.clauses[c].size()));
    }
    now += 8.0 * words * bucket.num_entries;
    bytes_ = std::max(bytes_, now + num_entries);
    for (const int table : bucket.tables) now -= 8.0 * words * buckets_[table].num_entries;
  }
}

// By state of the scope and, within that, of the variable: whether no clause of the bucket is violated.
std::vector<char> IntegerElimination::allowed(const Bucket& bucket) const {
  std::vector<int> all = bucket.scope;
  all.push_back(bucket.variable);
  std::vector<std::size_t> strides(all.size());
  std::size_t size = 1;
  for (std::size_t d = all.size(); d-- > 0; size *= static_cast<std::size_t>(num_states(all[d]))) strides[d] = size;
  std::vector<char> result(size, 1);
  for (const int c : bucket.clauses) {
    // By variable: the states in which none of the clause's literals holds.
    std::vector<std::vector<std::size_t>> offsets(all.size());
    for (std::size_t d = 0; d < all.size(); ++d) {
      const CountVariable& variable = problem_.variables[all[d]];
      for (int s = 0; s < variable.num_states; ++s) {
        const bool holds = std::any_of(problem_.clauses[c].begin(), problem_.clauses[c].end(), [&](Literal literal) {
          if (problem_.variable_of_atom[atom_of(literal)] != all[d]) return false;
          const bool is_this = variable.is_group() ? atom_of(literal) - variable.first_atom == s : s == 1;
          return is_this != is_negative(literal);
        });
        if (!holds) offsets[d].push_back(static_cast<std::size_t>(s) * strides[d]);
      }
    }
    forbid(result, offsets, 0, 0);
  }
  return result;
}

// The entries `first` to `last` of the table that is left of a bucket.
template <std::size_t kWords>
void IntegerElimination::sum_out(std::size_t position, std::size_t first, std::size_t last,
                                 const std::vector<char>& is_allowed) {
  const Bucket& bucket = buckets_[position];
  const std::size_t num_dims = bucket.scope.size(), num_tables = bucket.tables.size();
  const auto num_own = static_cast<std::size_t>(num_states(bucket.variable));
  // Where each table is read, in entries: all have their variables in the order of the scope, and this one last.
  std::vector<std::size_t> steps(num_dims * num_tables, 0), at(num_tables, 0), digits(num_dims, 0);
  for (std::size_t t = 0; t < num_tables; ++t) {
    const std::vector<int>& scope = buckets_[bucket.tables[t]].scope;
    std::size_t stride = num_own, d = num_dims;
    for (std::size_t i = scope.size() - 1; i-- > 0; stride *= static_cast<std::size_t>(num_states(scope[i]))) {
      do --d;
      while (bucket.scope[d] != scope[i]);
      steps[d * num_tables + t] = stride;
    }
  }
  std::size_t rest = first;
  for (std::size_t d = num_dims; d-- > 0;) {
    const auto count = static_cast<std::size_t>(num_states(bucket.scope[d]));
    digits[d] = rest % count;
    rest /= count;
    for (std::size_t t = 0; t < num_tables; ++t) at[t] += digits[d] * steps[d * num_tables + t];
  }
  const bool has_weights = problem_.variables[bucket.variable].has_weights;
  const std::uint64_t* const weights = state_words_[bucket.variable].data();
  std::array<std::uint64_t, kWords> sum, product;
  for (std::size_t entry = first; entry < last; ++entry) {
    sum.fill(0);
    for (std::size_t s = 0; s < num_own; ++s) {
      if (is_allowed[entry * num_own + s] == 0) continue;
      std::copy_n(weights + s * kWords, kWords, product.begin());
      bool is_first = !has_weights;
      for (std::size_t t = 0; t < num_tables; ++t) {
        const std::uint64_t* const number = tables_[bucket.tables[t]].data() + (at[t] + s) * kWords;
        if (is_first) {
          std::copy_n(number, kWords, product.begin());
          is_first = false;
        } else {
          multiply<kWords>(product.data(), number);
        }
        if (is_zero<kWords>(product.data())) break;
      }
      add<kWords>(sum.data(), product.data());
    }
    std::copy(sum.begin(), sum.end(), tables_[position].begin() + static_cast<std::ptrdiff_t>(entry * kWords));
    for (std::size_t d = num_dims; d-- > 0;) {
      const bool is_last = ++digits[d] == static_cast<std::size_t>(num_states(bucket.scope[d]));
      for (std::size_t t = 0; t < num_tables; ++t) {
        const std::size_t step = steps[d * num_tables + t];
        at[t] = is_last ? at[t] - (digits[d] - 1) * step : at[t] + step;
      }
      if (!is_last) break;
      digits[d] = 0;
    }
  }
}

template <std::size_t kWords>
std::optional<Integer> IntegerElimination::run(const ShouldStop& should_stop, int threads) {
  for (std::size_t v = 0; v < problem_.variables.size(); ++v) {
    Words& words = state_words_[v];
    for (int s = 0; s < num_states(static_cast<int>(v)); ++s) {
      const bool has_weights = problem_.variables[v].has_weights;
      words.resize(words.size() + kWords);
      (has_weights ? weights_[v][static_cast<std::size_t>(s)] : Integer(1)).to_words(std::span(words).last(kWords));
    }
  }
  Integer result(1);
  ThreadTeam team(threads);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (should_stop && should_stop()) return {};
    const auto num_entries = static_cast<std::size_t>(buckets_[i].num_entries);
    const std::vector<char> is_allowed = allowed(buckets_[i]);
    tables_[i].resize(num_entries * kWords);
    const auto sum = [&](std::size_t first, std::size_t last, int /*worker*/) {
      sum_out<kWords>(i, first, last, is_allowed);
    };
    try {
      team.run(num_entries, kGrain, sum, should_stop);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
      return {};
    }
    for (const int table : buckets_[i].tables) Words().swap(tables_[table]);
    if (!buckets_[i].scope.empty()) continue;
    result *= Integer::of_words(tables_[i]);
    Words().swap(tables_[i]);
  }
  return result;
}

std::optional<Integer> IntegerElimination::count(const ShouldStop& should_stop, int threads) {
  tables_.assign(buckets_.size(), {});
  state_words_.assign(problem_.variables.size(), {});
  switch (num_words_) {
    case 1:
      return run<1>(should_stop, threads);
    case 2:
      return run<2>(should_stop, threads);
    case 3:
      return run<3>(should_stop, threads);
    case 4:
      return run<4>(should_stop, threads);
    case 6:
      return run<6>(should_stop, threads);
    case 8:
      return run<8>(should_stop, threads);
    case 16:
      return run<16>(should_stop, threads);
    default:
      return run<32>(should_stop, threads);
  }
}

}  // namespace treesample
