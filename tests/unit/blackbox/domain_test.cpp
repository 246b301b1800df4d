#include "treesample/blackbox/domain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "treesample/blackbox/surrogate.hpp"

namespace treesample {
namespace {

using testing::expect_error;

// The mean is the number of the configuration in a list of all, so that their order shows.
class Numbering final : public Surrogate {
 public:
  using Surrogate::Surrogate;
  [[nodiscard]] std::string name() const override { return "numbering"; }
  void fit(const ToldValues&, const ShouldStop&) override {}
  void add(std::span<const int>, double) override {}
  void predict(std::span<const int> rows, std::span<Prediction> out) const override {
    const auto width = static_cast<std::size_t>(domain().width());
    for (std::size_t i = 0; i < out.size(); ++i) {
      double number = 0.0;
      for (std::size_t v = 0; v < width; ++v) number = number * domain().num_states[v] + rows[i * width + v];
      out[i] = {number, 2.0};
    }
  }
};

TEST(Domain, SaysWhatIsWrong) {
  Domain{.num_states = {2, 3}}.validate();
  Domain{.num_states = {2, 3}, .levels = {{}, {1.0, 10.0, 0.1}}}.validate();
  expect_error(ErrorCode::kArgument, "there is no variable", [&] { Domain{}.validate(); });
  expect_error(ErrorCode::kArgument, "num_states[1] is 0", [&] { Domain{.num_states = {2, 0}}.validate(); });
  expect_error(ErrorCode::kArgument, "2 variables of 1", [&] {
    Domain{.num_states = {2}, .levels = {{}, {}}}.validate();
  });
  expect_error(ErrorCode::kArgument, "1 levels for 2 states",
               [&] { Domain{.num_states = {2}, .levels = {{1.0}}}.validate(); });
  expect_error(ErrorCode::kArgument, "the level nan", [&] {
    Domain{.num_states = {2}, .levels = {{1.0, NAN}}}.validate();
  });
  expect_error(ErrorCode::kArgument, "the level 0.5 twice", [&] {
    Domain{.num_states = {2}, .levels = {{0.5, 0.5}}}.validate();
  });
}

TEST(Domain, CountsItsConfigurations) {
  EXPECT_EQ((Domain{.num_states = {2, 3, 4}}.num_configurations()), 24.0);
  EXPECT_EQ((Domain{.num_states = std::vector<int>(400, 64)}.num_configurations()), HUGE_VAL);
}

TEST(ToldValues, SaysWhatIsWrong) {
  const Domain domain{.num_states = {2, 3}};
  ToldValues told{.width = 2};
  told.add(domain, std::vector<int>{1, 2}, -INFINITY);
  told.add(domain, std::vector<int>{1, 2}, 1e300);
  told.validate(domain);
  expect_error(ErrorCode::kArgument, "the state of variable 1 is 3", [&] {
    told.add(domain, std::vector<int>{1, 3}, 0.0);
  });
  expect_error(ErrorCode::kArgument, "1 states for 2 variables", [&] { told.add(domain, std::vector<int>{1}, 0.0); });
  expect_error(ErrorCode::kNumeric, "value 2 is nan", [&] { told.add(domain, std::vector<int>{1, 1}, NAN); });
  expect_error(ErrorCode::kNumeric, "value 2 is inf", [&] { told.add(domain, std::vector<int>{1, 1}, INFINITY); });
  EXPECT_EQ(told.size(), 2U);
  told.known = {0.0};
  expect_error(ErrorCode::kArgument, "1 known parts for 2 values", [&] { told.validate(domain); });
  told.known = {0.0, -INFINITY};
  told.validate(domain);
  told.states.pop_back();
  expect_error(ErrorCode::kArgument, "3 states for 2 values", [&] { told.validate(domain); });
}

TEST(Surrogate, PredictsAllConfigurationsInOrder) {
  const Numbering numbering(Domain{.num_states = {3, 2, 7, 5, 31}});
  std::vector<double> means(3 * 2 * 7 * 5 * 31);
  numbering.predict_all(means);
  for (std::size_t i = 0; i < means.size(); ++i) EXPECT_EQ(means[i], static_cast<double>(i));
  means.pop_back();
  expect_error(ErrorCode::kArgument, "room for 6509 of 6510 means", [&] { numbering.predict_all(means); });
}

TEST(Surrogate, DrawsItsMeansUnlessItKnowsBetter) {
  const Numbering numbering(Domain{.num_states = {2, 3}});
  Random random(1, "draw");
  const std::unique_ptr<DrawnFunction> drawn = numbering.draw(random);
  const std::vector<int> rows{1, 2, 0, 1};
  std::vector<double> values(2), neighbours(5);
  drawn->values(rows, values);
  EXPECT_EQ(values, (std::vector<double>{5.0, 1.0}));
  drawn->neighbours(std::vector<int>{1, 2}, neighbours);
  EXPECT_EQ(neighbours, (std::vector<double>{2.0, 5.0, 3.0, 4.0, 5.0}));
}

}  // namespace
}  // namespace treesample
