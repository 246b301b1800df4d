#include "treesample/exact/expected_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "math/compensated_sum.hpp"
#include "thread_team.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/kept_elimination.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kExpectedCounts = "ExpectedCounts";
// The rows are divided into so many parts, whatever the number of threads: sums then have the same bits.
constexpr std::size_t kParts = 16;

}  // namespace

class ExpectedCounts::Work {
 public:
  Work(const FactorGraph& graph, std::span<const int> rows, std::span<const double> weights,
       const std::vector<int>& parameters, const ExpectedCountsOptions& options)
      : graph_(graph), parameters_(parameters), team_(options.threads) {
    offset_of_.assign(static_cast<std::size_t>(graph.num_factors()), -1);
    for (const int m : parameters) {
      check_range(kExpectedCounts, "factor", m, 0, graph.num_factors() - 1);
      if (!(graph.factor(m).is_table()))
        throw_argument(kExpectedCounts, fmt::format("factor {} is a function, allowed are tables", m));
      if (!(offset_of_[m] < 0)) throw_argument(kExpectedCounts, fmt::format("factor {} is given twice", m));
      offset_of_[m] = static_cast<std::ptrdiff_t>(num_entries_);
      num_entries_ += graph.factor(m).log_values().size();
    }
    known_counts_.assign(num_entries_, 0.0);
    take_rows(rows, weights);
    KeptOptions kept{.parameters = parameters, .lanes = 0, .order_work = options.order_work};
    kept.most_entries = options.most_entries;
    kept.most_bytes = options.most_bytes / (options.threads + 1);
    kept.seed = options.seed;
    for (int v = 0; v < graph.num_variables(); ++v) kept.weighted.push_back(v);
    if (!rows_.empty()) kept_.emplace(graph, kept);
  }

  [[nodiscard]] std::size_t num_entries() const { return num_entries_; }
  [[nodiscard]] std::size_t num_distinct_rows() const { return rows_.size(); }
  double count(std::span<const double> log_tables, std::span<double> counts, const ShouldStop& should_stop);

 private:
  struct Row {
    std::size_t number = 0;  // of the first such row
    double weight = 0.0;
    std::vector<int> states = {};
  };
  struct Part {
    CompensatedSum log_likelihood = {};
    std::vector<double> counts = {};
  };

  void take_rows(std::span<const int> rows, std::span<const double> weights);
  void count_known(const Row& row);
  void count_part(std::size_t part, KeptElimination& kept, Part& result) const;

  const FactorGraph graph_;
  std::vector<int> parameters_;
  ThreadTeam team_;
  std::vector<std::ptrdiff_t> offset_of_;  // by factor
  std::size_t num_entries_ = 0;
  std::vector<Row> rows_;  // different ones with missing values
  // Of the rows without any: their counts, the log likelihood by other factors, and for each entry a row that uses it.
  std::vector<double> known_counts_;
  CompensatedSum known_log_;
  std::vector<std::size_t> user_of_;
  std::optional<KeptElimination> kept_;
};

void ExpectedCounts::Work::take_rows(std::span<const int> rows, std::span<const double> weights) {
  const auto width = static_cast<std::size_t>(graph_.num_variables());
  check_argument(width > 0 && rows.size() % width == 0, kExpectedCounts, "rows have one state per variable");
  const std::size_t count = rows.size() / width;
  check_argument(weights.empty() || weights.size() == count, kExpectedCounts, "there is one weight per row, or none");
  user_of_.assign(num_entries_, 0);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const auto row = [&](std::size_t r) { return rows.subspan(r * width, width); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(row(a).begin(), row(a).end(), row(b).begin(), row(b).end());
  });
  std::vector<Row> distinct;
  for (const std::size_t r : order) {
    const double weight = weights.empty() ? 1.0 : weights[r];
    if (!(weight >= 0.0 && std::isfinite(weight)))
      throw_argument(kExpectedCounts,
                     fmt::format("row {} has the weight {}, allowed are finite numbers from 0 on", r, weight));
    for (std::size_t v = 0; v < width; ++v) {
      const int state = row(r)[v], most = graph_.num_states(static_cast<int>(v)) - 1;
      if (!(state >= -1 && state <= most))
        throw_argument(
            kExpectedCounts,
            fmt::format("row {} has the state {} of variable {}, allowed are 0 to {}, and -1 where it is missing", r,
                        state, v, most));
    }
    if (weight == 0.0) continue;
    if (distinct.empty() || !std::equal(row(r).begin(), row(r).end(), distinct.back().states.begin())) {
      distinct.push_back({r, 0.0, {row(r).begin(), row(r).end()}});
    }
    distinct.back().weight += weight;
  }
  for (Row& one : distinct) {
    if (std::find(one.states.begin(), one.states.end(), -1) == one.states.end()) {
      count_known(one);
    } else {
      rows_.push_back(std::move(one));
    }
  }
}

void ExpectedCounts::Work::count_known(const Row& row) {
  for (int m = 0; m < graph_.num_factors(); ++m) {
    const Factor& factor = graph_.factor(m);
    if (!(factor.is_table()))
      throw_argument(kExpectedCounts, fmt::format("factor {} is a function, allowed are tables", m));
    const std::size_t entry = table_index(graph_, factor, row.states);
    if (offset_of_[m] < 0) {
      const double value = factor.log_values()[entry];
      if (!(value > kNegInf)) throw_argument(kExpectedCounts, fmt::format("row {} is impossible", row.number));
      known_log_.add(row.weight * value);
      continue;
    }
    known_counts_[static_cast<std::size_t>(offset_of_[m]) + entry] += row.weight;
    user_of_[static_cast<std::size_t>(offset_of_[m]) + entry] = row.number;
  }
}

double ExpectedCounts::Work::count(std::span<const double> log_tables, std::span<double> counts,
                                   const ShouldStop& should_stop) {
  if (!(log_tables.size() == num_entries_ && counts.size() == num_entries_))
    throw_argument(kExpectedCounts,
                   fmt::format("the tables have {} entries, and so must have what is given", num_entries_));
  std::copy(known_counts_.begin(), known_counts_.end(), counts.begin());
  CompensatedSum log_likelihood = known_log_;
  for (std::size_t e = 0; e < num_entries_; ++e) {
    if (known_counts_[e] == 0.0) continue;
    if (!(log_tables[e] > kNegInf)) throw_argument(kExpectedCounts, fmt::format("row {} is impossible", user_of_[e]));
    log_likelihood.add(known_counts_[e] * log_tables[e]);
  }
  if (rows_.empty()) return log_likelihood.value();
  for (const int m : parameters_) {
    kept_->set_table(m,
                     log_tables.subspan(static_cast<std::size_t>(offset_of_[m]), graph_.factor(m).log_values().size()));
  }
  std::vector<Part> parts(kParts);
  team_.run(
      kParts, 1,
      [&](std::size_t begin, std::size_t end, int /*worker*/) {
        for (std::size_t part = begin; part < end; ++part) {
          KeptElimination own = *kept_;
          count_part(part, own, parts[part]);
        }
      },
      should_stop);
  for (const Part& part : parts) {
    log_likelihood.add(part.log_likelihood);
    for (std::size_t e = 0; e < part.counts.size(); ++e) counts[e] += part.counts[e];
  }
  return log_likelihood.value();
}

void ExpectedCounts::Work::count_part(std::size_t part, KeptElimination& kept, Part& result) const {
  const std::size_t begin = rows_.size() * part / kParts, end = rows_.size() * (part + 1) / kParts;
  const auto num_lanes = static_cast<std::size_t>(kept.num_lanes());
  if (begin == end) return;
  result.counts.assign(num_entries_, 0.0);
  std::vector<double> weights(num_lanes);
  for (std::size_t r = begin; r < end; r += num_lanes) {
    const std::size_t count = std::min(num_lanes, end - r);
    std::fill(weights.begin(), weights.end(), 0.0);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const Row& row = rows_[r + lane];
      weights[lane] = row.weight;
      for (int v = 0; v < graph_.num_variables(); ++v) kept.set_only_state(static_cast<int>(lane), v, row.states[v]);
    }
    kept.run_up();
    for (std::size_t lane = 0; lane < count; ++lane) {
      const double log_z = kept.log_z(static_cast<int>(lane));
      const std::size_t number = rows_[r + lane].number;
      if (kept.is_lossy(static_cast<int>(lane))) {
        throw Error(ErrorCode::kNumeric,
                    fmt::format("{}: the numbers of row {} are too small or too large", kExpectedCounts, number));
      }
      if (!(log_z > kNegInf)) throw_argument(kExpectedCounts, fmt::format("row {} is impossible", number));
      result.log_likelihood.add(weights[lane] * log_z);
    }
    kept.run_down(weights);
    for (const int m : parameters_) {
      kept.add_counts(m, std::span(result.counts)
                             .subspan(static_cast<std::size_t>(offset_of_[m]), graph_.factor(m).log_values().size()));
    }
  }
}

ExpectedCounts::ExpectedCounts(const FactorGraph& graph, std::span<const int> rows, std::span<const double> weights,
                               const std::vector<int>& parameters, const ExpectedCountsOptions& options)
    : work_(std::make_unique<Work>(graph, rows, weights, parameters, options)) {}
ExpectedCounts::~ExpectedCounts() = default;

std::size_t ExpectedCounts::num_entries() const { return work_->num_entries(); }
std::size_t ExpectedCounts::num_distinct_rows() const { return work_->num_distinct_rows(); }

double ExpectedCounts::count(std::span<const double> log_tables, std::span<double> counts,
                             const ShouldStop& should_stop) {
  return work_->count(log_tables, counts, should_stop);
}

}  // namespace treesample
