#include "black_boxes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "black_box_likelihoods.hpp"
#include "black_box_strangers.hpp"
#include "black_box_tasks.hpp"
#include "black_box_terms.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample::bench {
namespace {

// Ten gates of a random circuit, each working, stuck at 0 or stuck at 1; the outputs of 24 tests are read with errors.
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

// The structure of a network of five binary nodes: between each pair no edge, -> or <-; cycles are impossible.
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

// Ten jobs on three machines that must be set up between jobs; the value is the weighted lateness.
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

// Ten regimes of volatility, in a recursion over forty time steps; jumps make the solver fail more often.
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

// The depth of a decision list over sixteen bits, plus a logical rule: few parts decide, by conjunctions.
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

// A sequence of eight letters that folds: matching pairs that are far apart count, in a product of states.
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
  if (kind == "nk3-wide") return nk(random, 21, 3, 80.0);
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
  if (std::optional<BlackBoxProblem> found = stranger(kind, i)) return *std::move(found);
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
