// Regression of a function of discrete variables on a few of its terms, chosen by their evidence.
//
//   y_i = constant + sum over terms S of phi_S(x_i) . beta_S + noise,   noise ~ N(0, sigma^2 / w_i)
//   beta_S ~ N(0, v_S I)
//
// A term S is a set of variables; phi_S is the product of the contrasts of its variables. The contrasts of a variable
// with K states are K - 1 numbers psi(a) with psi(a) . psi(b) = K [a = b] - 1, which add up to 0 over the states. So a
// term contains nothing that a term of fewer variables could express, and each of its d_S = prod (K - 1) features has
// mean square 1.
//
// The terms, their variances v_S and sigma^2 are chosen greedily for the largest evidence. With C the covariance of y,
// Q_S = phi_S^T C^-1 y and s_S I instead of phi_S^T C^-1 phi_S, a term of variance v adds
//
//   1/2 ( |Q_S|^2 v / (1 + v s_S) - d_S log(1 + v s_S) ),      largest at v = (|Q_S|^2 / d_S - s_S) / s_S^2.
//
// A term that adds more than the logarithm of the number of its competitors is included, and one that no longer does is
// removed. In between, variances follow MacKay's fixed point, v_S = |beta_S|^2 / gamma_S with gamma_S = d_S -
// tr(Sigma_SS) / v_S, and sigma^2 = sum w r^2 / (n - sum gamma_S).
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// The data of a regression: `states` has one row of num_states.size() states for each value.
struct RegressionData {
  std::vector<int> num_states;
  std::vector<int> states;
  Eigen::VectorXd values, weights;

  [[nodiscard]] int num_variables() const { return static_cast<int>(num_states.size()); }
  [[nodiscard]] Eigen::Index num_points() const { return values.size(); }
  [[nodiscard]] int state(Eigen::Index point, int variable) const {
    return states[static_cast<std::size_t>(point) * num_states.size() + static_cast<std::size_t>(variable)];
  }
};

struct RegressionTerm {
  std::vector<int> scope;  // ascending
  double variance = 0.0;
  Eigen::VectorXd coefficients = {};
};

struct RegressionOptions {
  int num_rounds = 40;          // limit of rounds; each adds and removes terms, if it may, and improves variances
  int max_order = 6;            // the largest number of variables in a term
  int max_features = 1500;      // of all terms
  int max_triples = 20'000;     // if there are more, only triples that extend a pair are tried
  bool is_open = true;          // false: terms are neither added nor removed
  ShouldStop should_stop = {};  // ends it with the terms so far
};

class TermRegression {
 public:
  // Begins with these terms or, if there are none, with the main effects, provided that they fit.
  TermRegression(const RegressionData& data, std::vector<RegressionTerm> terms, const RegressionOptions& options);

  [[nodiscard]] const std::vector<RegressionTerm>& terms() const { return terms_; }
  [[nodiscard]] double constant() const { return constant_; }
  // True if the terms explain the values up to rounding.
  [[nodiscard]] bool is_perfect() const { return noise_variance_ <= 1.01 * least_noise_; }
  // The log evidence of the values under these terms and variances, minus the logarithm of the number of such sets of
  // terms.
  [[nodiscard]] double log_evidence() const;
  // sigma^2, the variance around the terms of a value whose weight is 1.
  [[nodiscard]] double noise_variance() const { return noise_variance_; }
  // The prediction of each value from all others, with these terms; empty if there was no time.
  [[nodiscard]] const Eigen::VectorXd& held_out() const { return held_out_; }
  // One more value in O(p^2) for p features; terms, variances and sigma^2 stay as they are.
  void add(std::span<const int> states, double value, double weight);
  // Coefficients drawn from their posterior, instead of their means.
  [[nodiscard]] std::vector<RegressionTerm> draw(Random& random, double* constant) const;

 private:
  struct Candidate {
    std::vector<int> scope;
    double gain = 0.0, variance = 0.0;
  };
  void begin();
  [[nodiscard]] std::vector<RegressionTerm> main_effects() const;
  void improve();
  void calibrate();
  void append(std::vector<RegressionTerm> terms);
  void solve();
  void set_coefficients();
  void update_variances();
  bool give_up();
  bool take_up(int max_order);
  void score(const std::vector<std::vector<int>>& scopes, double num_competitors, std::vector<Candidate>& found) const;
  [[nodiscard]] std::vector<std::vector<int>> extensions(std::size_t order) const;
  [[nodiscard]] int num_features(std::span<const int> scope) const;
  [[nodiscard]] Eigen::MatrixXd features(std::span<const int> scope) const;
  [[nodiscard]] double gain_of(std::size_t term) const;

  const RegressionData& data_;
  RegressionOptions options_;
  std::vector<RegressionTerm> terms_;
  std::vector<Eigen::Index> first_;  // feature of each term; feature 0 is the constant
  std::vector<std::vector<int>> shortlist_;
  std::vector<int> columns_;         // the states of each variable
  Eigen::MatrixXd scaled_features_;  // rows times the square root of their weights
  Eigen::VectorXd scaled_values_;
  Eigen::MatrixXd gram_;
  Eigen::VectorXd moments_;  // features times values
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd mean_, residuals_, held_out_;
  std::vector<double> trace_;  // of the posterior covariance of each term
  double constant_ = 0.0, offset_ = 0.0;
  double noise_variance_ = 1.0, least_noise_ = 0.0, value_variance_ = 0.0;
  double slope_ = 1.0;             // factor by which all effects are multiplied
  double num_determined_ = 0.0;    // sum of gamma
  bool has_main_effects_ = false;  // if true, the main effects are never removed
};

// The values of a term at all states of its scope, row-major.
std::vector<double> term_table(const RegressionTerm& term, std::span<const int> num_states);

}  // namespace treesample
