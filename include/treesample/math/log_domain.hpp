// Arithmetic on logarithms of non-negative numbers. -inf is log 0 and legal everywhere; no function
// returns NaN for legal input.
#pragma once

#include <cmath>
#include <limits>
#include <span>

namespace treesample {

inline constexpr double kNegInf = -std::numeric_limits<double>::infinity();

// log sum_i exp(values[i]); -inf for an empty span or when all values are -inf.
double log_sum_exp(std::span<const double> values);

// log(exp(a) + exp(b)).
double log_add_exp(double a, double b);

// log(1 - exp(-d)) for d >= 0; -inf at d = 0.
double log1mexp(double d);

// probabilities[i] = exp(log_weights[i] - log_sum_exp(log_weights)). Returns the normaliser; if it is -inf, all
// probabilities are 0. The spans may be the same memory.
double softmax(std::span<const double> log_weights, std::span<double> probabilities);

}  // namespace treesample
