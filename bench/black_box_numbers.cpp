#include "black_box_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "black_box_terms.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::bench {
namespace {

std::vector<double> range(double from, double to, int count) {
  std::vector<double> levels;
  for (int i = 0; i < count; ++i) levels.push_back(from + (to - from) * i / (count - 1));
  return levels;
}

Domain ordered(const std::vector<std::vector<double>>& levels) {
  Domain domain{.num_states = {}, .levels = levels};
  for (const auto& own : levels) domain.num_states.push_back(static_cast<int>(own.size()));
  return domain;
}

}  // namespace

// Absorption, elimination, volume, lag and bioavailability from concentrations at eight times.
BlackBoxProblem kinetics(Random random, double error) {
  const std::vector<std::vector<double>> levels{range(0.3, 3.0, 9), range(0.05, 0.5, 9), range(5.0, 25.0, 9),
                                                range(0.0, 1.0, 5), range(0.4, 1.0, 7)};
  const auto curve = [levels](States x, double time) {
    const double ka = levels[0][x[0]], ke = levels[1][x[1]], t = std::max(0.0, time - levels[3][x[3]]);
    const double dose = 100.0 * levels[4][x[4]] / levels[2][x[2]];
    return std::abs(ka - ke) < 1e-9 ? dose * ka * t * std::exp(-ka * t)
                                    : dose * ka / (ka - ke) * (std::exp(-ke * t) - std::exp(-ka * t));
  };
  Assignment truth;
  for (const auto& own : levels) truth.push_back(static_cast<int>(random.below(own.size())));
  const std::array<double, 8> times{0.5, 1.0, 1.5, 2.0, 4.0, 6.0, 9.0, 14.0};
  std::vector<double> seen;
  for (const double t : times) seen.push_back((curve(truth, t) + 0.02) * std::exp(error * random.normal()));
  return {.domain = ordered(levels), .function = [=](States x) {
            double sum = 0.0;
            for (std::size_t i = 0; i < seen.size(); ++i)
              sum -= 0.5 * std::pow(std::log((curve(x, times[i]) + 0.02) / seen[i]) / error, 2);
            return sum;
          }};
}

// Numbers within linear constraints; outside, the simulator gives up.
BlackBoxProblem feasible(Random random) {
  const std::vector<std::vector<double>> levels(5, range(-1.0, 1.0, 8));
  std::array<std::array<double, 5>, 4> walls{};
  std::array<double, 5> centre{}, width{};
  for (auto& wall : walls) {
    for (double& own : wall) own = random.normal();
  }
  for (int v = 0; v < 5; ++v) {
    centre[v] = 0.7 * random.normal();
    width[v] = 0.3 + 0.4 * random.uniform();
  }
  return {.domain = ordered(levels), .function = [=](States x) {
            std::array<double, 5> at{};
            for (int v = 0; v < 5; ++v) at[v] = levels[v][x[v]];
            for (const auto& wall : walls) {
              double sum = 0.0;
              for (int v = 0; v < 5; ++v) sum += wall[v] * at[v];
              if (sum > 0.8) return std::numeric_limits<double>::quiet_NaN();
            }
            double value = 0.0;
            for (int v = 0; v < 5; ++v) value -= 0.5 * std::pow((at[v] - centre[v]) / width[v], 2);
            return value + at[0] * at[1] - 0.8 * at[2] * at[3] * at[4];
          }};
}

// Rates of an epidemic, its start and the share that is reported, from counts.
BlackBoxProblem epidemic(Random random) {
  const std::vector<std::vector<double>> levels{range(0.2, 0.9, 14), range(0.05, 0.4, 12), range(1.0, 20.0, 10),
                                                range(0.1, 1.0, 10)};
  const auto expected = [levels](States x) {
    double s = 2000.0, i = levels[2][x[2]];
    std::vector<double> counts;
    for (int day = 0; day < 40; ++day) {
      const double infected = levels[0][x[0]] * s * i / 2000.0, cured = levels[1][x[1]] * i;
      s -= infected;
      i += infected - cured;
      if (day % 4 == 3) counts.push_back(levels[3][x[3]] * infected + 0.1);
    }
    return counts;
  };
  Assignment truth;
  for (const auto& own : levels) truth.push_back(static_cast<int>(random.below(own.size())));
  std::vector<double> seen;
  for (const double mean : expected(truth))
    seen.push_back(std::max(0.0, std::round(mean + std::sqrt(mean) * random.normal())));
  return {.domain = ordered(levels), .function = [=](States x) {
            const std::vector<double> mean = expected(x);
            double sum = 0.0;
            for (std::size_t k = 0; k < mean.size(); ++k)
              sum += seen[k] * std::log(mean[k]) - mean[k] - std::lgamma(seen[k] + 1.0);
            return sum;
          }};
}

// Three bumps of different heights and widths over four numbers.
BlackBoxProblem bumps(Random random) {
  const std::vector<std::vector<double>> levels(4, range(0.0, 1.0, 14));
  struct Bump {
    std::array<double, 4> centre{};
    double width = 0.1, height = 0.0;
  };
  std::vector<Bump> all(3);
  for (Bump& bump : all) {
    for (double& own : bump.centre) own = random.uniform();
    bump.width = 0.05 + 0.1 * random.uniform();
    bump.height = 3.0 * random.uniform();
  }
  return {.domain = ordered(levels), .function = [=](States x) {
            std::vector<double> parts;
            for (const Bump& bump : all) {
              double square = 0.0;
              for (int v = 0; v < 4; ++v) square += std::pow((levels[v][x[v]] - bump.centre[v]) / bump.width, 2);
              parts.push_back(bump.height - 0.5 * square);
            }
            return log_sum_exp(parts);
          }};
}

}  // namespace treesample::bench
