#include "baselines/factor_messages.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// The definition, one message after the other.
std::vector<std::vector<double>> literal_messages(const std::vector<double>& table, const std::vector<int>& dims,
                                                  const std::vector<std::vector<double>>& incoming) {
  std::vector<std::vector<std::vector<double>>> terms(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) terms[i].resize(dims[i]);
  for (std::size_t index = 0; index < table.size(); ++index) {
    std::vector<int> x(dims.size());
    std::size_t rest = index;
    for (std::size_t i = dims.size(); i-- > 0; rest /= dims[i]) x[i] = static_cast<int>(rest % dims[i]);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      double value = table[index];
      for (std::size_t j = 0; j < dims.size(); ++j) value += j == i ? 0.0 : incoming[j][x[j]];
      terms[i][x[i]].push_back(value);
    }
  }
  std::vector<std::vector<double>> outgoing(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (const std::vector<double>& values : terms[i]) outgoing[i].push_back(log_sum_exp(values));
  }
  return outgoing;
}

TEST(FactorMessages, EqualTheDefinitionForEveryArity) {
  Random random(21);
  FactorMessages messages;
  for (int trial = 0; trial < 400; ++trial) {
    const int arity = 1 + trial % 6;
    const double scale = trial % 7 == 0 ? 2000.0 : 1.0;
    const double zeros = trial % 3 == 0 ? 0.4 : 0.0;
    const auto log_value = [&] { return random.uniform() < zeros ? kNegInf : scale * random.normal(); };
    std::vector<int> dims(arity);
    std::size_t size = 1;
    for (int& dim : dims) size *= dim = 1 + static_cast<int>(random.below(4));
    std::vector<double> table(size);
    for (double& value : table) value = log_value();
    std::vector<std::vector<double>> incoming(arity);
    std::vector<std::vector<double>> outgoing(arity);
    std::vector<const double*> incoming_pointers;
    std::vector<double*> outgoing_pointers;
    for (int i = 0; i < arity; ++i) {
      for (int a = 0; a < dims[i]; ++a) incoming[i].push_back(log_value());
      outgoing[i].assign(dims[i], 123.0);
      incoming_pointers.push_back(incoming[i].data());
      outgoing_pointers.push_back(outgoing[i].data());
    }
    messages.compute(table, dims, incoming_pointers, outgoing_pointers);
    const auto expected = literal_messages(table, dims, incoming);
    for (int i = 0; i < arity; ++i) {
      for (int a = 0; a < dims[i]; ++a) {
        if (expected[i][a] == kNegInf) {
          ASSERT_EQ(outgoing[i][a], kNegInf) << "trial " << trial;
        } else {
          ASSERT_NEAR(outgoing[i][a], expected[i][a], 1e-12 * (1.0 + std::abs(expected[i][a]))) << "trial " << trial;
        }
      }
    }
  }
}

// More entries than are worked on at a time, in rows and in columns.
TEST(FactorMessages, LargeTablesAreTakenInBlocks) {
  Random random(22);
  FactorMessages messages;
  for (const auto& [rows, columns] : {std::pair{90, 70}, {3, 5000}, {5000, 3}}) {
    const std::vector<int> dims = {rows, columns};
    std::vector<double> table(rows * columns);
    for (double& value : table) value = random.normal();
    std::vector<std::vector<double>> incoming = {std::vector<double>(rows, 0.5), std::vector<double>(columns, -0.25)};
    std::vector<std::vector<double>> outgoing = incoming;
    const std::vector<const double*> from = {incoming[0].data(), incoming[1].data()};
    const std::vector<double*> to = {outgoing[0].data(), outgoing[1].data()};
    messages.compute(table, dims, from, to);
    const auto expected = literal_messages(table, dims, incoming);
    for (int a = 0; a < rows; ++a) ASSERT_NEAR(outgoing[0][a], expected[0][a], 1e-11);
    for (int a = 0; a < columns; ++a) ASSERT_NEAR(outgoing[1][a], expected[1][a], 1e-11);
  }
}

}  // namespace
}  // namespace treesample
