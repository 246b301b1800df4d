#include "black_box_models.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "black_box_parts.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::bench {

// Ten gates, each right, stuck at 0 or stuck at 1; 24 tests of a random circuit, whose outputs are read with errors.
BlackBoxProblem circuit(Random random) {
  constexpr int kGates = 10, kInputs = 5, kTests = 24;
  struct Circuit {
    std::array<std::array<int, 2>, kGates> inputs{};
    std::array<int, kGates> kind{};
    std::array<std::array<bool, kInputs>, kTests> tests{};
    std::array<std::array<bool, 3>, kTests> seen{};
    std::array<bool, 3> run(int test, States state) const {
      std::array<bool, kInputs + kGates> signal{};
      for (int i = 0; i < kInputs; ++i) signal[i] = tests[test][i];
      for (int g = 0; g < kGates; ++g) {
        const bool a = signal[inputs[g][0]], b = signal[inputs[g][1]];
        const bool right = kind[g] == 0 ? !(a && b) : kind[g] == 1 ? !(a || b) : a != b;
        signal[kInputs + g] = state[g] == 0 ? right : state[g] == 2;
      }
      return {signal[kInputs + 7], signal[kInputs + 8], signal[kInputs + 9]};
    }
  };
  auto circuit = std::make_shared<Circuit>();
  for (int g = 0; g < kGates; ++g) {
    const std::vector<int> two = choose(random, kInputs + g, 2);
    circuit->inputs[g] = {two[0], two[1]};
    if (g > 0 && random.uniform() < 0.6)
      circuit->inputs[g][0] = kInputs + g - 1 - static_cast<int>(random.below(g < 3 ? 1 : 3));
    circuit->kind[g] = static_cast<int>(random.below(3));
  }
  for (auto& test : circuit->tests) {
    for (bool& input : test) input = random.below(2) == 1;
  }
  std::vector<int> truth(kGates, 0);
  for (const int g : choose(random, kGates, 2)) truth[g] = 1 + static_cast<int>(random.below(2));
  for (int t = 0; t < kTests; ++t) {
    circuit->seen[t] = circuit->run(t, truth);
    for (bool& out : circuit->seen[t]) out = out != (random.uniform() < 0.05);
  }
  BlackBoxProblem problem{.domain = {.num_states = std::vector<int>(kGates, 3)}};
  problem.function = [circuit](States x) {
    int wrong = 0;
    for (int t = 0; t < kTests; ++t) {
      const auto out = circuit->run(t, x);
      for (int i = 0; i < 3; ++i) wrong += out[i] != circuit->seen[t][i];
    }
    return wrong * std::log(0.05) + (3 * kTests - wrong) * std::log(0.95);
  };
  for (int g = 0; g < kGates; ++g) problem.tables.push_back({{g}, {std::log(0.9), std::log(0.05), std::log(0.05)}});
  return problem;
}

// Structure of a network of five binary nodes: each pair none, -> or <-; cycles are impossible.
BlackBoxProblem structure(Random random) {
  constexpr int kNodes = 5, kRows = 60;
  std::vector<std::array<int, kNodes>> rows(kRows);
  const std::vector<int> names = random.permutation(kNodes);
  const std::vector<std::vector<int>> parents{{}, {0}, {1}, {0, 2}, {3}};
  std::vector<std::vector<double>> chances(kNodes);
  for (int v = 0; v < kNodes; ++v) {
    for (int c = 0; c < 1 << parents[v].size(); ++c) {
      const double a = random.gamma(0.6), b = random.gamma(0.6);
      chances[v].push_back(a / (a + b));
    }
  }
  for (auto& row : rows) {
    for (int v = 0; v < kNodes; ++v) {
      int code = 0;
      for (const int p : parents[v]) code = 2 * code + row[names[p]];
      row[names[v]] = random.uniform() < chances[v][code] ? 1 : 0;
    }
  }
  auto local = std::make_shared<std::array<std::array<double, 32>, kNodes>>();
  for (int v = 0; v < kNodes; ++v) {
    for (int set = 0; set < 32; ++set) {
      if (set >> v & 1) continue;
      std::map<int, std::array<int, 2>> counts;
      for (const auto& row : rows) {
        int code = 0;
        for (int u = 0; u < kNodes; ++u) {
          if (set >> u & 1) code = 2 * code + row[u];
        }
        ++counts[code][row[v]];
      }
      const double a = 1.0 / (1 << std::popcount(static_cast<unsigned>(set)));
      double sum = 0.0;
      for (const auto& [code, n] : counts) {
        sum += std::lgamma(a) - std::lgamma(a + n[0] + n[1]);
        for (const int k : n) sum += std::lgamma(a / 2 + k) - std::lgamma(a / 2);
      }
      (*local)[v][set] = sum;
    }
  }
  return {.domain = {.num_states = std::vector<int>(10, 3)}, .function = [local](States x) {
            std::array<int, kNodes> sets{};
            int pair = 0;
            for (int a = 0; a < kNodes; ++a) {
              for (int b = a + 1; b < kNodes; ++b, ++pair) {
                if (x[pair] == 1) sets[b] |= 1 << a;
                if (x[pair] == 2) sets[a] |= 1 << b;
              }
            }
            int left = 31;
            for (bool moved = true; moved && left != 0;) {
              moved = false;
              for (int v = 0; v < kNodes; ++v) {
                if ((left >> v & 1) != 0 && (sets[v] & left) == 0) {
                  left &= ~(1 << v);
                  moved = true;
                }
              }
            }
            if (left != 0) return kNegInf;
            double sum = 0.0;
            for (int v = 0; v < kNodes; ++v) sum += (*local)[v][sets[v]];
            return sum;
          }};
}

// Ten jobs on three machines with times to set them up: weighted lateness.
BlackBoxProblem schedule(Random random) {
  struct Job {
    double time, due, weight;
    int family;
    std::array<double, 3> speed;
  };
  std::vector<Job> jobs(10);
  std::vector<double> due;
  for (Job& job : jobs) {
    job.time = 2.0 + static_cast<double>(random.below(8));
    job.weight = 1.0 + static_cast<double>(random.below(4));
    job.family = static_cast<int>(random.below(3));
    for (double& s : job.speed) s = 0.7 + 0.7 * random.uniform();
    due.push_back(5.0 + static_cast<double>(random.below(25)));
  }
  std::sort(due.begin(), due.end());
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].due = due[i];
  return {.domain = {.num_states = std::vector<int>(10, 3)}, .function = [jobs](States x) {
            std::array<double, 3> end{};
            std::array<int, 3> last{-1, -1, -1};
            double cost = 0.0;
            for (std::size_t j = 0; j < jobs.size(); ++j) {
              const int m = x[j];
              const double set_up = last[m] >= 0 && last[m] != jobs[j].family ? 3.0 : 0.0;
              end[m] += set_up + jobs[j].time * jobs[j].speed[m];
              last[m] = jobs[j].family;
              cost += jobs[j].weight * std::max(0.0, end[m] - jobs[j].due);
            }
            return -cost / 6.0;
          }};
}

// Ten regimes of volatility, a recursion over forty times; jumps make the solver fail more often.
BlackBoxProblem volatility(Random random, bool fails) {
  constexpr int kTimes = 40;
  const std::array<double, 3> level{0.4, 1.0, 2.5};
  const auto variances = [level](States x) {
    std::array<double, kTimes> out{};
    double h = 1.0;
    for (int t = 0; t < kTimes; ++t) out[t] = h = 0.55 * h + 0.45 * level[x[t / 4]] * level[x[t / 4]];
    return out;
  };
  std::vector<int> truth(10);
  for (int& s : truth) s = static_cast<int>(random.below(3));
  const auto h = variances(truth);
  std::vector<double> seen(kTimes);
  for (int t = 0; t < kTimes; ++t) seen[t] = std::sqrt(h[t]) * random.normal();
  const std::uint64_t seed = random.bits();
  return {.domain = {.num_states = std::vector<int>(10, 3)}, .function = [=](States x) {
            int jumps = 0;
            std::uint64_t place = 0;
            for (int i = 0; i < 10; ++i) {
              place = 3 * place + static_cast<std::uint64_t>(x[i]);
              jumps += i > 0 && std::abs(x[i] - x[i - 1]) == 2 ? 1 : 0;
            }
            Random own(seed + place, "failure");
            if (fails && own.uniform() < 0.08 + 0.06 * jumps) return std::numeric_limits<double>::quiet_NaN();
            const auto out = variances(x);
            double sum = 0.0;
            for (int t = 0; t < kTimes; ++t) sum -= 0.5 * (std::log(out[t]) + seen[t] * seen[t] / out[t]);
            return sum;
          }};
}

// Which of sixteen predictors belong to a linear model: its marginal likelihood under a g-prior.
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

// Whether a network of sixteen lines joins two points; each line fails with a probability of its own.
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
  problem.function = [lines](States x) {  // the probability of being cut off
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

// Ten couplings of five spins, each of three sizes: the likelihood of forty samples.
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

}  // namespace treesample::bench
