// Black boxes that are likelihoods of data, and settings of a learner.
#include "black_box_likelihoods.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "black_box_terms.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::bench {

// Settings of a learner: rate, width, depth, decay, optimiser, activation. Ordered settings have levels.
BlackBoxProblem hyper(Random random, bool is_ordered) {
  Domain domain{.num_states = {6, 5, 4, 6, 3, 2}};
  if (is_ordered)
    domain.levels = {{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1},
                     {16, 32, 64, 128, 256},
                     {1, 2, 3, 4},
                     {0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1},
                     {},
                     {}};
  std::array<double, 3> best_rate{};
  for (double& r : best_rate) r = 1.0 + 2.5 * random.uniform();
  const double best_decay = 1.0 + 3.0 * random.uniform(), tilt = random.normal(), pair = random.normal();
  const double act = random.normal(), deep = random.normal();
  return {.domain = domain, .function = [=](States x) {
            const double rate = x[0] - best_rate[x[4]] - 0.4 * tilt * x[2] / 3.0;
            if (rate > 2.4) return -30.0 - 2.0 * x[1];  // diverged
            const double width = x[1] / 4.0, depth = x[2] / 3.0;
            double loss =
                1.2 * rate * rate + 2.5 * (1 - width) * (1 - width) + 1.5 * std::abs(depth - 0.5 - 0.2 * deep);
            loss += 0.5 * (x[3] - best_decay * (0.6 + 0.4 * width)) * (x[3] - best_decay * (0.6 + 0.4 * width));
            loss += 0.7 * pair * (x[5] == 1) * depth + 0.5 * act * (x[5] == 1);
            return -2.0 * loss;
          }};
}

// Which of sixteen predictors belong to a linear model, by its marginal likelihood under a g-prior.
BlackBoxProblem selection(Random random) {
  constexpr int kPredictors = 16, kRows = 60;
  std::vector<std::vector<double>> columns(kPredictors, std::vector<double>(kRows));
  std::vector<double> response(kRows, 0.0);
  for (int r = 0; r < kRows; ++r) {
    const double shared = random.normal();
    for (auto& column : columns) column[r] = 0.6 * shared + 0.8 * random.normal();
  }
  for (const int v : choose(random, kPredictors, 5)) {
    const double effect = 0.4 * random.normal() + (random.below(2) == 1 ? 0.3 : -0.3);
    for (int r = 0; r < kRows; ++r) response[r] += effect * columns[v][r];
  }
  for (double& y : response) y += random.normal();
  const auto centre = [](std::vector<double>& v) {
    const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
    for (double& y : v) y -= mean;
  };
  centre(response);
  for (auto& column : columns) centre(column);
  return {.domain = {.num_states = std::vector<int>(kPredictors, 2)}, .function = [=](States x) {
            std::vector<std::vector<double>> basis;
            double explained = 0.0, total = 0.0;
            for (const double y : response) total += y * y;
            for (int v = 0; v < kPredictors; ++v) {
              if (x[v] == 0) continue;
              std::vector<double> q = columns[v];
              for (const auto& b : basis) {
                const double dot = std::inner_product(q.begin(), q.end(), b.begin(), 0.0);
                for (int r = 0; r < kRows; ++r) q[r] -= dot * b[r];
              }
              const double norm = std::sqrt(std::inner_product(q.begin(), q.end(), q.begin(), 0.0));
              for (double& y : q) y /= norm;
              explained += std::pow(std::inner_product(q.begin(), q.end(), response.begin(), 0.0), 2);
              basis.push_back(std::move(q));
            }
            const double g = kRows, k = static_cast<double>(basis.size());
            return 0.5 * (kRows - 1 - k) * std::log1p(g) - 0.5 * (kRows - 1) * std::log1p(g * (1 - explained / total)) +
                   k * std::log(0.3 / 0.7);
          }};
}

// Does a network of sixteen lines connect two points? Each line has its own probability of failure.
BlackBoxProblem network(Random random) {
  constexpr int kNodes = 9, kLines = 16;
  std::vector<std::array<int, 2>> lines;
  for (int v = 1; v < kNodes; ++v) lines.push_back({static_cast<int>(random.below(v)), v});
  while (std::ssize(lines) < kLines) {
    const std::vector<int> two = choose(random, kNodes, 2);
    lines.push_back({two[0], two[1]});
  }
  BlackBoxProblem problem{.domain = {.num_states = std::vector<int>(kLines, 2)}};
  for (int i = 0; i < kLines; ++i) {
    const double p = 0.02 + 0.18 * random.uniform();
    problem.tables.push_back({{i}, {std::log(1 - p), std::log(p)}});
  }
  problem.function = [lines](States x) {  // the probability that the points are cut off
    std::array<int, kNodes> part{};
    std::iota(part.begin(), part.end(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < kLines; ++i) {
        const auto [a, b] = lines[i];
        if (x[i] == 0 && part[a] != part[b]) {
          part[a] = part[b] = std::min(part[a], part[b]);
          moved = true;
        }
      }
    }
    return part[0] == part[kNodes - 1] ? kNegInf : 0.0;
  };
  return problem;
}

// Ten couplings of five spins, each of one of three sizes; the value is the likelihood of forty samples.
BlackBoxProblem inverse_ising(Random random) {
  const std::array<double, 3> size{-0.6, 0.0, 0.6};
  std::array<int, 10> truth{};
  for (int& s : truth) s = static_cast<int>(random.below(3));
  const auto energy = [](int spins, const std::array<double, 10>& j) {
    double sum = 0.0;
    int pair = 0;
    for (int a = 0; a < 5; ++a) {
      for (int b = a + 1; b < 5; ++b, ++pair) sum += ((spins >> a ^ spins >> b) & 1) != 0 ? -j[pair] : j[pair];
    }
    return sum;
  };
  const auto couplings = [size](auto x) {
    std::array<double, 10> j{};
    for (int i = 0; i < 10; ++i) j[i] = size[x[i]];
    return j;
  };
  std::vector<double> weights;
  for (int s = 0; s < 32; ++s) weights.push_back(std::exp(energy(s, couplings(truth))));
  std::array<int, 32> counts{};
  for (int i = 0; i < 40; ++i) ++counts[random.categorical(weights)];
  return {.domain = {.num_states = std::vector<int>(10, 3)}, .function = [=](States x) {
            const auto j = couplings(x);
            std::array<double, 32> e{};
            for (int s = 0; s < 32; ++s) e[s] = energy(s, j);
            double sum = 0.0;
            for (int s = 0; s < 32; ++s) sum += counts[s] * e[s];
            return sum - 40 * log_sum_exp(e);
          }};
}

BlackBoxProblem hypergrid(int side) {
  return {.domain = {.num_states = std::vector<int>(4, side)}, .function = [side](States x) {
            bool outer = true, ring = true;
            for (const int s : x) {
              const double far = std::abs(static_cast<double>(s) / (side - 1) - 0.5);
              outer = outer && far > 0.25;
              ring = ring && far > 0.3 && far < 0.4;
            }
            return std::log(1e-3 + 0.5 * outer + 2.0 * ring);
          }};
}

// A smooth log posterior on a grid of numbers.
BlackBoxProblem smooth(Random random) {
  constexpr int kWidth = 5;
  Domain domain{.num_states = std::vector<int>(kWidth, 9)};
  std::vector<double> levels;
  for (int s = 0; s < 9; ++s) levels.push_back(-2.0 + 0.5 * s);
  domain.levels.assign(kWidth, levels);
  std::array<std::array<double, kWidth>, kWidth> a{};
  std::array<double, kWidth> centre{};
  for (auto& row : a) {
    for (double& value : row) value = 0.7 * random.normal();
  }
  for (double& c : centre) c = 0.7 * random.normal();
  const double bend = 0.3 * random.normal(), wave = random.uniform();
  return {.domain = domain, .function = [=](States x) {
            std::array<double, kWidth> z{};
            for (int i = 0; i < kWidth; ++i) z[i] = levels[x[i]] - centre[i];
            double sum = 0.0;
            for (int i = 0; i < kWidth; ++i) {
              double row = z[i] * 0.8;
              for (int j = 0; j < kWidth; ++j) row += a[i][j] * z[j];
              sum -= 0.5 * row * row;
            }
            return sum + bend * z[0] * z[1] * z[1] + 0.5 * std::sin(2 * z[2] + wave);
          }};
}

}  // namespace treesample::bench
