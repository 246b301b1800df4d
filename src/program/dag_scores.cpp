// BGe and BDeu: how well a set of parents explains a node, for all nodes and sets.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "treesample/error.hpp"
#include "treesample/program/dag_posterior.hpp"

namespace treesample {
namespace {

template <class Number>
int check_table(const char* function, const std::vector<std::vector<Number>>& rows) {
  check_argument(!rows.empty(), function, "the table has no rows");
  const std::size_t width = rows.front().size();
  check_range(function, "number of columns", static_cast<std::int64_t>(width), 1, DagLayers::kMostNodes);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    check_argument(rows[r].size() == width, function,
                   fmt::format("row {} has {} values, and the first one {}", r, rows[r].size(), width));
  }
  return static_cast<int>(width);
}

// score[v][P] = log p(columns of P and v) - log p(columns of P).
DagScores differences(const std::vector<double>& log_marginals, int n) {
  DagScores scores(static_cast<std::size_t>(n), std::vector<double>(log_marginals.size()));
  for (std::size_t v = 0; v < scores.size(); ++v) {
    for (std::size_t set = 0; set < log_marginals.size(); ++set) {
      if ((set >> v & 1) == 0) scores[v][set] = log_marginals[set | std::size_t{1} << v] - log_marginals[set];
    }
  }
  return scores;
}

// The data as a normal-Wishart posterior sees them: the scatter about the mean, with the prior's T added.
struct Scatter {
  double num_rows = 0.0, alpha_mu = 1.0, alpha_w = 0.0, t = 0.0;
  Eigen::MatrixXd r;
};

Scatter scatter_of(const std::vector<std::vector<double>>& rows, int n, const BgeOptions& options) {
  Scatter scatter{static_cast<double>(rows.size()), options.alpha_mu, n + options.alpha_mu + 1.0, 0.0, {}};
  scatter.t = options.alpha_mu * (scatter.alpha_w - n - 1.0) / (options.alpha_mu + 1.0);
  Eigen::MatrixXd data(static_cast<Eigen::Index>(rows.size()), n);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (int v = 0; v < n; ++v) {
      const double value = rows[row][static_cast<std::size_t>(v)];
      check_argument(std::isfinite(value), "bge_scores",
                     fmt::format("row {}, column {} is {}, allowed are finite numbers", row, v, value));
      data(static_cast<Eigen::Index>(row), v) = value;
    }
  }
  const Eigen::MatrixXd centred = data.rowwise() - data.colwise().mean();
  scatter.r = centred.transpose() * centred + scatter.t * Eigen::MatrixXd::Identity(n, n);
  check_argument(scatter.r.allFinite(), "bge_scores", "the numbers are too large");
  return scatter;
}

// log Gamma_l(a + l / 2), without the power of pi that cancels.
double log_multivariate_gamma(double a, int l) {
  double sum = 0.0;
  for (int i = 1; i <= l; ++i) sum += std::lgamma(a + 0.5 * (l + 1 - i));
  return sum;
}

// log p(data of the columns Y), l = |Y|, N rows:
//
//   l/2 log(alpha_mu / (N + alpha_mu)) - l N / 2 log pi
//   + log Gamma_l((N + alpha_w - n + l) / 2) - log Gamma_l((alpha_w - n + l) / 2)
//   + (alpha_w - n + l) / 2 log |T_YY| - (N + alpha_w - n + l) / 2 log |R_YY|
double log_marginal(const Scatter& scatter, std::uint32_t set, int n) {
  std::vector<int> columns;
  DagLayers::for_each_node(set, [&](int v) { columns.push_back(v); });
  const int l = static_cast<int>(columns.size());
  if (l == 0) return 0.0;
  const Eigen::MatrixXd part = scatter.r(columns, columns);
  const Eigen::LLT<Eigen::MatrixXd> cholesky(part);
  check_argument(cholesky.info() == Eigen::Success, "bge_scores",
                 "columns are too different in size, or too nearly the same, for double precision: scale them");
  const double log_det = 2.0 * Eigen::MatrixXd(cholesky.matrixL()).diagonal().array().log().sum();
  const double before = scatter.alpha_w - n + l, after = before + scatter.num_rows;
  return 0.5 * l * std::log(scatter.alpha_mu / (scatter.num_rows + scatter.alpha_mu)) -
         0.5 * l * scatter.num_rows * std::log(std::numbers::pi) + log_multivariate_gamma(0.5 * (after - l), l) -
         log_multivariate_gamma(0.5 * (before - l), l) + 0.5 * before * l * std::log(scatter.t) - 0.5 * after * log_det;
}

// The rows by what they have in the columns of a set: numbers from 0 in the order in which they occur.
std::vector<int> groups_of(const std::vector<std::vector<int>>& rows, std::uint32_t set,
                           const std::vector<int>& num_states) {
  std::vector<int> groups;
  std::unordered_map<std::uint64_t, int> numbers;
  for (const std::vector<int>& row : rows) {
    std::uint64_t code = 0;
    DagLayers::for_each_node(set, [&](int v) {
      const auto place = static_cast<std::size_t>(v);
      code = code * static_cast<std::uint64_t>(num_states[place]) + static_cast<std::uint64_t>(row[place]);
    });
    groups.push_back(numbers.try_emplace(code, static_cast<int>(numbers.size())).first->second);
  }
  return groups;
}

// sum over groups j of  log Gamma(a_j) - log Gamma(a_j + N_j) + sum_k (log Gamma(a_jk + N_jk) - log Gamma(a_jk)).
// Configurations of the parents that do not occur contribute 0.
double bdeu_score(const std::vector<int>& groups, int num_groups, const std::vector<int>& states, int num_states,
                  double per_group) {
  std::vector<int> counts(static_cast<std::size_t>(num_groups) * static_cast<std::size_t>(num_states));
  const auto width = static_cast<std::size_t>(num_states);
  for (std::size_t row = 0; row < groups.size(); ++row) {
    ++counts[static_cast<std::size_t>(groups[row]) * width + static_cast<std::size_t>(states[row])];
  }
  const double per_cell = per_group / num_states;
  double score = 0.0;
  for (std::size_t group = 0; group < static_cast<std::size_t>(num_groups); ++group) {
    int total = 0;
    for (std::size_t k = 0; k < width; ++k) {
      const int count = counts[group * width + k];
      total += count;
      if (count > 0) score += std::lgamma(per_cell + count) - std::lgamma(per_cell);
    }
    score += std::lgamma(per_group) - std::lgamma(per_group + total);
  }
  return score;
}

std::vector<int> states_of(const std::vector<std::vector<int>>& rows, int n, const BdeuOptions& options) {
  std::vector<int> num_states = options.num_states;
  check_argument(num_states.empty() || static_cast<int>(num_states.size()) == n, "bdeu_scores",
                 fmt::format("num_states has {} entries, and there are {} columns", num_states.size(), n));
  const bool is_given = !num_states.empty();
  num_states.resize(static_cast<std::size_t>(n), 1);
  constexpr int kMostStates = 30;  // their product must fit into 64 bits
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t v = 0; v < num_states.size(); ++v) {
      const int state = rows[row][v], most = is_given ? num_states[v] : kMostStates;
      check_argument(state >= 0 && state < most, "bdeu_scores",
                     fmt::format("row {}, column {} is {}, allowed are 0 to {}", row, v, state, most - 1));
      if (!is_given) num_states[v] = std::max(num_states[v], state + 1);
    }
  }
  for (const int count : num_states) check_range("bdeu_scores", "num_states", count, 1, kMostStates);
  return num_states;
}

}  // namespace

DagScores bge_scores(const std::vector<std::vector<double>>& rows, const BgeOptions& options) {
  const int n = check_table("bge_scores", rows);
  check_argument(options.alpha_mu > 0.0 && std::isfinite(options.alpha_mu), "bge_scores",
                 fmt::format("alpha_mu is {}, allowed are positive numbers", options.alpha_mu));
  const Scatter scatter = scatter_of(rows, n, options);
  std::vector<double> log_marginals(std::size_t{1} << n);
  for (std::uint32_t set = 0; set < log_marginals.size(); ++set) log_marginals[set] = log_marginal(scatter, set, n);
  return differences(log_marginals, n);
}

DagScores bdeu_scores(const std::vector<std::vector<int>>& rows, const BdeuOptions& options) {
  const int n = check_table("bdeu_scores", rows);
  const double worth = options.equivalent_sample_size;
  check_argument(worth > 0.0 && std::isfinite(worth), "bdeu_scores",
                 fmt::format("equivalent_sample_size is {}, allowed are positive numbers", worth));
  const std::vector<int> num_states = states_of(rows, n, options);
  std::vector<std::vector<int>> columns(static_cast<std::size_t>(n));
  for (const std::vector<int>& row : rows) {
    for (std::size_t v = 0; v < columns.size(); ++v) columns[v].push_back(row[v]);
  }
  DagScores scores(columns.size(), std::vector<double>(std::size_t{1} << n));
  for (std::uint32_t set = 0; set < scores.front().size(); ++set) {
    const std::vector<int> groups = groups_of(rows, set, num_states);
    const int num_groups = *std::max_element(groups.begin(), groups.end()) + 1;
    double num_configurations = 1.0;
    DagLayers::for_each_node(set, [&](int v) { num_configurations *= num_states[static_cast<std::size_t>(v)]; });
    for (std::size_t v = 0; v < columns.size(); ++v) {
      if ((set >> v & 1) == 0) {
        scores[v][set] = bdeu_score(groups, num_groups, columns[v], num_states[v], worth / num_configurations);
      }
    }
  }
  return scores;
}

}  // namespace treesample
