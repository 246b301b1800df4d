#include "black_box_strangers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "black_box_numbers.hpp"
#include "black_box_terms.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample::bench {
namespace {

// Objects; too heavy a load is impossible.
BlackBoxProblem knapsack(Random random, int count) {
  std::vector<double> weights, values;
  for (int i = 0; i < count; ++i) {
    weights.push_back(1.0 + 9.0 * random.uniform());
    values.push_back(0.3 * weights.back() + 1.5 * random.uniform());
  }
  return {.domain = {.num_states = std::vector<int>(static_cast<std::size_t>(count), 2)}, .function = [=](States x) {
            double weight = 0.0, value = 0.0;
            for (std::size_t i = 0; i < x.size(); ++i) {
              weight += x[i] * weights[i];
              value += x[i] * values[i];
            }
            return weight > 35.0 ? kNegInf : value;
          }};
}

// Random tables along a random tree, or along a random graph with one edge and a half for each variable.
BlackBoxProblem random_network(Random random, bool is_tree, int width) {
  const int states = is_tree ? 4 : 3;
  const std::vector<int> num_states(static_cast<std::size_t>(width), states);
  std::vector<Term> terms;
  for (int v = 1; v < width; ++v)
    terms.push_back(normal_term(random, {static_cast<int>(random.below(v)), v}, num_states, 1.2));
  for (int i = 0; !is_tree && i < width / 2; ++i)
    terms.push_back(normal_term(random, choose(random, width, 2), num_states, 1.2));
  return {.domain = {.num_states = num_states}, .function = [=](States x) { return sum_of(terms, x, num_states); }};
}

// A chain of beads on a square lattice, by its relative turns; what crosses itself is impossible.
BlackBoxProblem fold(Random random, int turns) {
  std::array<bool, 16> sticks{};
  for (bool& own : sticks) own = random.uniform() < 0.55;
  return {.domain = {.num_states = std::vector<int>(static_cast<std::size_t>(turns), 3)}, .function = [=](States x) {
            std::map<std::array<int, 2>, int> places{{{0, 0}, 0}, {{1, 0}, 1}};
            std::array<int, 2> at{1, 0}, step{1, 0};
            for (int i = 0; i < turns; ++i) {
              if (x[i] == 1) step = {-step[1], step[0]};
              if (x[i] == 2) step = {step[1], -step[0]};
              at = {at[0] + step[0], at[1] + step[1]};
              if (!places.try_emplace(at, i + 2).second) return kNegInf;
            }
            int contacts = 0;
            for (const auto& [place, bead] : places) {
              for (const auto& [dx, dy] : {std::array<int, 2>{1, 0}, std::array<int, 2>{0, 1}}) {
                const auto other = places.find({place[0] + dx, place[1] + dy});
                if (other == places.end() || std::abs(other->second - bead) < 2) continue;
                contacts += sticks[static_cast<std::size_t>(bead)] && sticks[static_cast<std::size_t>(other->second)];
              }
            }
            return 2.0 * contacts;
          }};
}

// Offsets of seven traffic lights along two streets; cars that meet a red light wait.
BlackBoxProblem lights(Random random) {
  constexpr int kLights = 7, kPhases = 4;
  struct Street {
    std::vector<int> order;
    std::vector<double> times;
    double flow = 1.0;
  };
  std::vector<Street> streets(3);
  for (Street& street : streets) {
    street.order = choose(random, kLights, 5);
    for (int i = 0; i < 5; ++i) street.times.push_back(0.2 + 0.9 * random.uniform());
    street.flow = 0.5 + random.uniform();
  }
  return {.domain = {.num_states = std::vector<int>(kLights, kPhases)}, .function = [=](States x) {
            double delay = 0.0;
            for (const Street& street : streets) {
              for (const double start : {0.1, 0.4}) {
                double now = start;
                for (std::size_t i = 0; i < street.order.size(); ++i) {
                  now += street.times[i];
                  const double phase = now + x[street.order[i]] / static_cast<double>(kPhases);
                  const double red = phase - std::floor(phase);
                  const double wait = red < 0.5 ? 0.5 - red : 0.0;
                  delay += street.flow * wait;
                  now += wait;
                }
              }
            }
            return -4.0 * delay;
          }};
}

// Main effects and twenty triples.
BlackBoxProblem cubic(Random random, int width) {
  const std::vector<int> num_states(static_cast<std::size_t>(width), 2);
  std::vector<Term> terms;
  for (int i = 0; i < width; ++i) terms.push_back(normal_term(random, {i}, num_states, 0.5));
  for (int i = 0; i < 20; ++i) terms.push_back(normal_term(random, choose(random, width, 3), num_states, 0.8));
  return {.domain = {.num_states = num_states}, .function = [=](States x) { return sum_of(terms, x, num_states); }};
}

// Settings of a solver: some matter only where others are on; the time has a heavy tail.
BlackBoxProblem solver(Random random) {
  Domain domain{.num_states = {3, 6, 2, 5, 4, 2, 6, 3}};
  domain.levels = {{}, {1, 3, 10, 30, 100, 300}, {}, {0.5, 0.6, 0.7, 0.8, 0.9}, {}, {}, {0, 1, 2, 4, 8, 16}, {}};
  std::array<double, 12> c{};
  for (double& own : c) own = random.normal();
  return {.domain = domain, .function = [=](States x) {
            double time = 0.8 * c[0] * (x[0] == 1) + 0.8 * c[1] * (x[0] == 2);
            if (x[0] == 1) time += 0.35 * std::pow(x[1] - 2.5 - c[2], 2);    // restarts, only here
            if (x[2] == 1) time += 1.5 * std::abs(x[3] - 2.0 - c[3]) - 1.0;  // decay, only where there are scores
            time += 0.7 * c[4 + x[4]] + (x[5] == 1 ? 0.3 * std::pow(x[6] - 3.0, 2) - 1.0 + 0.5 * c[8] : 0.0);
            time += 0.5 * c[9] * (x[7] == 1) * (x[0] == 2) + 0.5 * c[10] * (x[7] == 2) * (x[4] == 1);
            return -3.0 * std::log1p(std::exp(time));
          }};
}

// Which code of five pegs agrees with nine answers, some of them mistaken?
BlackBoxProblem mastermind(Random random) {
  const auto score = [](States a, States b) {
    int black = 0, both = 0;
    std::array<int, 7> left{}, right{};
    for (int i = 0; i < 5; ++i) {
      black += a[i] == b[i];
      ++left[a[i]];
      ++right[b[i]];
    }
    for (int k = 0; k < 7; ++k) both += std::min(left[k], right[k]);
    return std::array<int, 2>{black, both - black};
  };
  const auto any = [&] {
    Assignment x;
    for (int i = 0; i < 5; ++i) x.push_back(static_cast<int>(random.below(7)));
    return x;
  };
  const Assignment truth = any();
  std::vector<Assignment> asked;
  std::vector<std::array<int, 2>> seen;
  for (int i = 0; i < 9; ++i) {
    asked.push_back(any());
    seen.push_back(score(truth, asked.back()));
    if (random.uniform() < 0.15) seen.back()[0] = std::max(0, seen.back()[0] - 1);
  }
  return {.domain = {.num_states = std::vector<int>(5, 7)}, .function = [=](States x) {
            double sum = 0.0;
            for (std::size_t i = 0; i < asked.size(); ++i) {
              const auto got = score(x, asked[i]);
              sum -= 1.6 * (std::abs(got[0] - seen[i][0]) + 0.7 * std::abs(got[1] - seen[i][1]));
            }
            return sum;
          }};
}

// Jobs on as many machines; two jobs on the same machine are a loss.
BlackBoxProblem assignment(Random random, int count) {
  const std::vector<int> num_states(static_cast<std::size_t>(count), count);
  std::vector<Term> terms;
  for (int i = 0; i < count; ++i) terms.push_back(normal_term(random, {i}, num_states, 1.5));
  return {.domain = {.num_states = num_states}, .function = [=](States x) {
            double sum = sum_of(terms, x, num_states);
            for (int i = 0; i < count; ++i) {
              for (int j = 0; j < i; ++j) sum -= x[i] == x[j] ? 4.0 : 0.0;
            }
            return sum;
          }};
}

// Eight letters that fold onto themselves: the largest number of nested pairs, weighed by their kind.
BlackBoxProblem hairpin(Random random) {
  std::array<double, 3> strength{};
  for (double& own : strength) own = 1.0 + 2.0 * random.uniform();
  std::array<double, 4> likes{};
  for (double& own : likes) own = 0.4 * random.normal();
  return {.domain = {.num_states = std::vector<int>(8, 4)}, .function = [=](States x) {
            const auto pair = [&](int i, int j) {
              const int low = std::min(x[i], x[j]), high = std::max(x[i], x[j]);
              if (low == 0 && high == 3) return strength[0];
              if (low == 1 && high == 2) return strength[1];
              if (low == 2 && high == 3) return strength[2];
              return -100.0;
            };
            std::array<std::array<double, 9>, 9> most{};
            for (int length = 3; length < 8; ++length) {
              for (int i = 0; i + length < 8; ++i) {
                const int j = i + length;
                double best = std::max(most[i + 1][j], most[i][j - 1]);
                best = std::max(best, most[i + 1][j - 1] + pair(i, j));
                for (int k = i; k < j; ++k) best = std::max(best, most[i][k] + most[k + 1][j]);
                most[i][j] = best;
              }
            }
            double sum = 1.5 * most[0][7];
            for (const int s : x) sum += likes[s];
            return sum;
          }};
}

// Which places get a sensor: what they see together, less their price.
BlackBoxProblem sensors(Random random, int count) {
  std::vector<std::array<double, 2>> places(static_cast<std::size_t>(count));
  std::vector<std::array<double, 2>> targets(40);
  for (auto& place : places) place = {random.uniform(), random.uniform()};
  for (auto& target : targets) target = {random.uniform(), random.uniform()};
  return {.domain = {.num_states = std::vector<int>(static_cast<std::size_t>(count), 2)}, .function = [=](States x) {
            double seen = 0.0, price = 0.0;
            for (const auto& target : targets) {
              double missed = 1.0;
              for (std::size_t i = 0; i < x.size(); ++i) {
                const double d = std::hypot(places[i][0] - target[0], places[i][1] - target[1]);
                if (x[i] == 1) missed *= 1.0 - 0.9 * std::exp(-std::pow(d / 0.22, 2));
              }
              seen += 1.0 - missed;
            }
            for (const int s : x) price += s;
            return 0.8 * seen - 1.6 * price;
          }};
}

// The first row of a cellular automaton, from its sixth one, read with mistakes.
BlackBoxProblem automaton(Random random) {
  constexpr int kCells = 14;
  const int rule = std::array<int, 4>{30, 110, 90, 54}[random.below(4)];
  const auto last = [=](unsigned row) {
    for (int step = 0; step < 5; ++step) {
      unsigned after = 0;
      for (int i = 0; i < kCells; ++i) {
        const unsigned around =
            (row >> ((i + kCells - 1) % kCells) & 1U) << 2U | (row >> i & 1U) << 1U | (row >> ((i + 1) % kCells) & 1U);
        after |= (static_cast<unsigned>(rule) >> around & 1U) << i;
      }
      row = after;
    }
    return row;
  };
  unsigned seen = last(static_cast<unsigned>(random.below(1U << kCells)));
  for (int i = 0; i < kCells; ++i) seen ^= random.uniform() < 0.05 ? 1U << i : 0U;
  return {.domain = {.num_states = std::vector<int>(kCells, 2)}, .function = [=](States x) {
            unsigned row = 0;
            for (int i = 0; i < kCells; ++i) row |= static_cast<unsigned>(x[i]) << i;
            return -1.5 * std::popcount(last(row) ^ seen);
          }};
}

}  // namespace

const std::vector<std::string>& stranger_kinds() {
  static const std::vector<std::string> kinds{"knapsack",       "randnet",    "randtree", "fold",     "kinetics",
                                              "kinetics-sharp", "lights",     "cubic",    "feasible", "solver",
                                              "mastermind",     "assignment", "epidemic", "hairpin",  "sensors",
                                              "automaton",      "bumps"};
  return kinds;
}

const std::vector<std::string>& wide_kinds() {
  static const std::vector<std::string> kinds{"wide-knapsack", "wide-randnet", "wide-randtree",   "wide-fold",
                                              "wide-cubic",    "wide-sensors", "wide-assignment", "nk3-wide"};
  return kinds;
}

std::optional<BlackBoxProblem> stranger(const std::string& kind, std::uint64_t instance) {
  Random random(instance, kind);
  if (kind == "knapsack") return knapsack(random, 16);
  if (kind == "randnet") return random_network(random, false, 10);
  if (kind == "randtree") return random_network(random, true, 8);
  if (kind == "fold") return fold(random, 10);
  if (kind == "kinetics") return kinetics(random, 0.2);
  if (kind == "kinetics-sharp") return kinetics(random, 0.03);
  if (kind == "lights") return lights(random);
  if (kind == "cubic") return cubic(random, 15);
  if (kind == "feasible") return feasible(random);
  if (kind == "solver") return solver(random);
  if (kind == "mastermind") return mastermind(random);
  if (kind == "assignment") return assignment(random, 6);
  if (kind == "epidemic") return epidemic(random);
  if (kind == "hairpin") return hairpin(random);
  if (kind == "sensors") return sensors(random, 16);
  if (kind == "automaton") return automaton(random);
  if (kind == "bumps") return bumps(random);
  if (kind == "wide-knapsack") return knapsack(random, 21);
  if (kind == "wide-randnet") return random_network(random, false, 13);
  if (kind == "wide-randtree") return random_network(random, true, 11);
  if (kind == "wide-fold") return fold(random, 13);
  if (kind == "wide-cubic") return cubic(random, 21);
  if (kind == "wide-sensors") return sensors(random, 21);
  if (kind == "wide-assignment") return assignment(random, 8);
  return {};
}

}  // namespace treesample::bench
