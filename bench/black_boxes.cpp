#include "black_boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "black_box_models.hpp"
#include "black_box_parts.hpp"
#include "black_box_tasks.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample::bench {
namespace {

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
