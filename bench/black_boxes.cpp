#include "black_boxes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "black_box_tasks.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample::bench {
namespace {

using States = std::span<const int>;

std::size_t cell_of(States x, const std::vector<int>& scope, std::span<const int> num_states) {
  std::size_t cell = 0;
  for (const int v : scope)
    cell = cell * static_cast<std::size_t>(num_states[v]) + static_cast<std::size_t>(x[static_cast<std::size_t>(v)]);
  return cell;
}

std::vector<int> choose(Random& random, int n, int k, int without = -1) {
  std::vector<int> result;
  for (const int v : random.permutation(n)) {
    if (v != without && std::ssize(result) < k) result.push_back(v);
  }
  return result;
}

struct Term {
  std::vector<int> scope;
  std::vector<double> values;
};

Term normal_term(Random& random, std::vector<int> scope, std::span<const int> num_states, double sd) {
  std::size_t size = 1;
  for (const int v : scope) size *= static_cast<std::size_t>(num_states[v]);
  Term term{std::move(scope), std::vector<double>(size)};
  for (double& value : term.values) value = sd * random.normal();
  return term;
}

double sum_of(const std::vector<Term>& terms, States x, std::span<const int> num_states) {
  double sum = 0.0;
  for (const Term& term : terms) sum += term.values[cell_of(x, term.scope, num_states)];
  return sum;
}

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

// Main effects, neighbouring pairs and a few triples through a saturating link.
BlackBoxProblem binding(Random random) {
  const std::vector<int> num_states(8, 4);
  std::vector<Term> terms;
  for (int i = 0; i < 8; ++i) terms.push_back(normal_term(random, {i}, num_states, 0.7));
  for (int i = 0; i < 8; ++i) {
    for (int j = i + 1; j < 8; ++j) {
      if (j == i + 1 || random.uniform() < 0.25) terms.push_back(normal_term(random, {i, j}, num_states, 0.5));
    }
  }
  for (int i = 0; i < 6; ++i) terms.push_back(normal_term(random, choose(random, 8, 3), num_states, 0.5));
  double mean = 0.0, squares = 0.0;
  constexpr int kSample = 4000;
  for (int i = 0; i < kSample; ++i) {
    std::vector<int> x(8);
    for (int& s : x) s = static_cast<int>(random.below(4));
    const double e = sum_of(terms, x, num_states);
    mean += e / kSample;
    squares += e * e / kSample;
  }
  const double sd = std::sqrt(squares - mean * mean);
  return {.domain = {.num_states = num_states}, .function = [=](States x) {
            const double e = (sum_of(terms, x, num_states) - mean) / sd;
            return 18.0 / (1.0 + std::exp(-1.6 * (e - 1.5)));
          }};
}

BlackBoxProblem nk(Random random, int n, int k, double beta) {
  const std::vector<int> num_states(n, 2);
  std::vector<Term> terms;
  for (int i = 0; i < n; ++i) {
    std::vector<int> scope = choose(random, n, k, i);
    scope.push_back(i);
    Term term{std::move(scope), std::vector<double>(std::size_t{1} << (k + 1))};
    for (double& value : term.values) value = beta / n * random.uniform();
    terms.push_back(std::move(term));
  }
  return {.domain = {.num_states = num_states}, .function = [=](States x) { return sum_of(terms, x, num_states); }};
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

// Settings of a learner: rate, width, depth, decay, optimiser, activation; ordered ones have levels.
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

BlackBoxProblem pairs(Random random, int n, double sd) {
  const std::vector<int> num_states(n, 2);
  std::vector<Term> terms;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) terms.push_back(normal_term(random, {i, j}, num_states, sd));
  }
  return {.domain = {.num_states = num_states}, .function = [=](States x) { return sum_of(terms, x, num_states); }};
}

// Independent values at all configurations.
BlackBoxProblem independent(std::uint64_t seed, int n, const std::function<double(Random&)>& draw) {
  return {.domain = {.num_states = std::vector<int>(n, 2)}, .function = [=](States x) {
            std::uint64_t place = 1;
            for (const int s : x) place = 2 * place + static_cast<std::uint64_t>(s);
            Random own(seed * 1'000'003 + place, "independent");
            return draw(own);
          }};
}

// The depth of a decision list over sixteen bits, and a logical rule beside it: few parts decide, by conjunctions.
BlackBoxProblem rules(Random random) {
  struct Rule {
    std::vector<int> scope, states;
    double value;
  };
  const std::vector<int> num_states{2, 3, 2, 4, 3, 2, 3, 2, 3, 4};
  std::vector<Rule> rules;
  for (int i = 0; i < 14; ++i) {
    Rule rule{choose(random, 10, 2 + static_cast<int>(random.below(3))), {}, 2.5 * random.normal()};
    for (const int v : rule.scope) rule.states.push_back(static_cast<int>(random.below(num_states[v])));
    rules.push_back(rule);
  }
  return {.domain = {.num_states = num_states}, .function = [rules](States x) {
            double sum = 0.0;
            for (const Rule& rule : rules) {
              bool holds = true;
              for (std::size_t i = 0; i < rule.scope.size(); ++i) holds = holds && x[rule.scope[i]] == rule.states[i];
              if (holds) sum += rule.value;
            }
            return 2.0 * sum;
          }};
}

// A sequence of eight letters that folds: pairs that match far apart count, in a product of states.
BlackBoxProblem additive_max(Random random) {
  const std::vector<int> num_states(7, 4);
  std::vector<std::vector<Term>> modes(3);
  for (auto& mode : modes) {
    for (int i = 0; i < 7; ++i) mode.push_back(normal_term(random, {i}, num_states, 2.0));
  }
  return {.domain = {.num_states = num_states}, .function = [=](States x) {
            std::vector<double> sums;
            for (const auto& mode : modes) sums.push_back(sum_of(mode, x, num_states));
            return log_sum_exp(sums);
          }};
}

BlackBoxProblem named(const std::string& kind, std::uint64_t i) {
  Random random(i, kind);
  if (kind == "circuit") return circuit(random);
  if (kind == "binding") return binding(random);
  if (kind == "nk3") return nk(random, 16, 3, 80.0);
  if (kind == "nk30") return nk(random, 30, 3, 30.0);
  if (kind == "nk5") return nk(random, 16, 5, 80.0);
  if (kind == "structure") return structure(random);
  if (kind == "schedule") return schedule(random);
  if (kind == "volatility") return volatility(random, true);
  if (kind == "hyper") return hyper(random, false);
  if (kind == "hyper-ordered") return hyper(random, true);
  if (kind == "selection") return selection(random);
  if (kind == "network") return network(random);
  if (kind == "ising") return inverse_ising(random);
  if (kind == "hypergrid") return hypergrid(20);
  if (kind == "smooth") return smooth(random);
  if (kind == "pairs") return pairs(random, 12, 0.5);
  if (kind == "rules") return rules(random);
  if (kind == "modes") return additive_max(random);
  if (kind == "needle") {
    const int at = static_cast<int>(random.below(1 << 14));
    return {.domain = {.num_states = std::vector<int>(14, 2)}, .function = [at](States x) {
              int place = 0;
              for (const int s : x) place = 2 * place + s;
              return place == at ? 12.0 : 0.0;
            }};
  }
  if (kind == "heavy")
    return independent(i, 9, [](Random& own) {
      const double z = own.normal();
      return z / std::abs(own.normal());
    });
  if (kind == "normal") return independent(i, 10, [](Random& own) { return 3.0 * own.normal(); });
  if (kind == "needles") return independent(i, 10, [](Random& own) { return own.uniform() < 0.05 ? 8.0 : 0.0; });
  return black_box_task(kind, i);
}

}  // namespace

const std::vector<std::string>& black_box_kinds() {
  static const std::vector<std::string> kinds{
      "circuit", "binding",   "nk3",     "nk5",    "structure",     "schedule",  "volatility",
      "hyper",   "selection", "network", "ising",  "hyper-ordered", "hypergrid", "smooth",
      "pairs",   "rules",     "modes",   "needle", "heavy",         "normal",    "needles"};
  return kinds;
}

BlackBoxProblem black_box_problem(const std::string& kind, std::uint64_t instance) {
  const std::size_t plus = kind.find('+');
  BlackBoxProblem problem = named(kind.substr(0, plus), instance);
  if (plus != std::string::npos) problem.noise = std::stod(kind.substr(plus + 1));
  return problem;
}

}  // namespace treesample::bench
