// Measures how much this library, and simple methods with equally many calls, learn about black boxes of many kinds.
//
//   black_box_bench KINDS CALLS INSTANCES METHODS [THREADS]      for example  all 100,300 1-3 ours,remember 16
//
// KINDS are names (black_boxes.hpp), "all", "tasks", "strangers" or "wide"; INSTANCES are a range. METHODS:
//   ours          a portfolio of surrogates and proposers;  ours-NAME: without that one, as in ours-forest
//   batch         ours, with 96 configurations requested at a time
//   under-N       ours, with N calls under way: the next one is requested when the oldest has its value
//   wide          ours, as if the domain could not be enumerated
//   old           the search that learns only sparse terms
//   remember      Metropolis, true weights on all visited configurations
// Prints a row of CSV for each run, then means: total variation of P_X, error of log Z and of marginals, distance to
// the best value (for tasks the best value), processor seconds, whether an interval was given, and whether it covers
// the truth.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <unordered_map>

#include "black_box_strangers.hpp"
#include "black_boxes.hpp"
#include "treesample/blackbox/black_box.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/surrogate/learned_search.hpp"

namespace treesample::bench {
namespace {

struct Job {
  std::string kind, method;
  std::uint64_t instance = 0;
  int calls = 0;
};

struct Outcome {
  double variation = 0.0, log_z = 0.0, marginals = 0.0, best = 0.0, seconds = 0.0;
  int given = 0, covering = 0;
};

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<std::string> split(const std::string& text, char separator = ',') {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Counts calls and adds the noise.
class Oracle {
 public:
  Oracle(const BlackBoxProblem& problem, std::uint64_t seed) : problem_(problem), random_(seed, "noise") {}
  double operator()(std::span<const int> x) {
    ++calls;
    return problem_.function(x) + (problem_.noise > 0.0 ? problem_.noise * random_.normal() : 0.0);
  }
  double tables(std::span<const int> x) const {
    double sum = 0.0;
    for (const KnownTable& table : problem_.tables) {
      std::size_t cell = 0;
      for (const int v : table.scope)
        cell = cell * static_cast<std::size_t>(problem_.domain.num_states[v]) + static_cast<std::size_t>(x[v]);
      sum += table.log_values[cell];
    }
    return sum;
  }
  int calls = 0;

 private:
  const BlackBoxProblem& problem_;
  Random random_;
};

FactorGraph graph_of(const BlackBoxProblem& problem, const Factor::Function& function) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < problem.domain.width(); ++v) {
    Variable variable{.num_states = problem.domain.num_states[v]};
    if (problem.domain.is_ordered(v)) variable.levels = problem.domain.levels[v];
    scope.push_back(graph.add_variable(std::move(variable)));
  }
  for (const KnownTable& table : problem.tables) graph.add_table(table.scope, table.log_values);
  graph.add_factor(Factor::function(scope, function));
  return graph;
}

void next(Assignment& x, const std::vector<int>& num_states) {
  for (std::size_t v = x.size(); v-- > 0;) {
    if (++x[v] < num_states[v]) return;
    x[v] = 0;
  }
}

struct Found {
  std::vector<double> log_weights;  // over the domain; empty for tasks
  std::optional<LogBounds> interval;
  double best = kNegInf;
};

std::vector<double> weights_of(const Approximation& approximation, const std::vector<int>& num_states) {
  std::size_t size = 1;
  for (const int k : num_states) size *= static_cast<std::size_t>(k);
  std::vector<double> result(size);
  Assignment x(num_states.size(), 0);
  for (double& weight : result) {
    weight = approximation.log_prob(x);
    next(x, num_states);
  }
  return result;
}

Found ours(const BlackBoxProblem& problem, Oracle& oracle, const Job& job, bool is_task) {
  BlackBoxOptions options{.seed = job.instance, .wants_best = is_task};
  if (job.method.starts_with("wide")) options.most_enumerated = 0.0;
  const std::size_t num_under = job.method.starts_with("under-") ? std::stoul(job.method.substr(6)) : 1;
  for (std::size_t dash = num_under > 1 ? std::string::npos : job.method.find('-'); dash != std::string::npos;) {
    const std::size_t end = job.method.find('-', dash + 1);
    options.without.push_back(job.method.substr(dash + 1, end == std::string::npos ? end : end - dash - 1));
    dash = end;
  }
  const int factor = static_cast<int>(problem.tables.size());
  BlackBox box(graph_of(problem, [](std::span<const int>) { return 0.0; }), options);
  static_cast<void>(factor);
  Found found;
  const auto tell = [&](const Assignment& x) {
    const double value = oracle(x);
    if (std::isnan(value)) {
      box.tell_failed(x, "diverged");
      return;
    }
    found.best = std::max(found.best, value + oracle.tables(x));
    box.tell(x, value);
  };
  const int batch = job.method.starts_with("batch") ? 96 : 1;
  const int search = is_task ? job.calls : job.calls - job.calls / 10;
  std::deque<Assignment> under_way;
  while (oracle.calls < search) {
    const int room = static_cast<int>(num_under - under_way.size());
    const int open = search - oracle.calls - static_cast<int>(under_way.size());
    const std::vector<Assignment> asked = box.ask(std::min(num_under > 1 ? room : batch, open));
    under_way.insert(under_way.end(), asked.begin(), asked.end());
    if (under_way.empty()) break;
    for (std::size_t i = num_under > 1 ? 1 : under_way.size(); i > 0; --i) {
      tell(under_way.front());
      under_way.pop_front();
    }
  }
  if (is_task) return found;
  while (oracle.calls < job.calls) {
    const std::vector<Assignment> asked = box.ask_check(job.calls - oracle.calls);
    if (asked.empty()) break;
    for (const Assignment& x : asked) tell(x);
  }
  const BlackBoxAnswer answer = box.answer();
  if (answer.errors && answer.errors->no_error.empty()) found.interval = answer.errors->interval;
  if (answer.is_exact) found.interval = {answer.log_z, answer.log_z};
  if (answer.approximation) found.log_weights = weights_of(*answer.approximation, problem.domain.num_states);
  for (double& weight : found.log_weights) weight += answer.log_z;
  return found;
}

Found old(const BlackBoxProblem& problem, Oracle& oracle, const Job& job, bool is_task) {
  Found found;
  const FactorGraph graph = graph_of(problem, [&](std::span<const int> x) {
    const double value = oracle(x);
    if (!std::isnan(value)) found.best = std::max(found.best, value + oracle.tables(x));
    return std::isnan(value) ? kNegInf : value;
  });
  const LearnedResult result = learned_search(graph, {.budget = job.calls, .unit = BudgetUnit::kCall},
                                              {.seed = job.instance, .wants_best = is_task});
  if (result.report.errors && result.report.errors->no_error.empty()) found.interval = result.report.errors->interval;
  if (is_task || !result.approximation) return found;
  found.log_weights = weights_of(*result.approximation, problem.domain.num_states);
  for (double& weight : found.log_weights) weight += result.report.estimate;
  return found;
}

Found remember(const BlackBoxProblem& problem, Oracle& oracle, const Job& job, bool is_task) {
  const std::vector<int>& num_states = problem.domain.num_states;
  Random random(job.instance, "remember");
  std::map<Assignment, double> known;
  Assignment at(num_states.size());
  for (std::size_t v = 0; v < at.size(); ++v) at[v] = static_cast<int>(random.below(num_states[v]));
  const auto value = [&](const Assignment& x) {
    const auto [place, is_new] = known.try_emplace(x, 0.0);
    if (is_new) {
      const double f = oracle(x);
      place->second = std::isnan(f) ? kNegInf : f + oracle.tables(x);
    }
    return place->second;
  };
  Found found;
  double now = value(at);
  for (int step = 0; step < 40 * job.calls && oracle.calls < job.calls; ++step) {
    Assignment other = at;
    const auto v = random.below(at.size());
    other[v] = (at[v] + 1 + static_cast<int>(random.below(std::max(1, num_states[v] - 1)))) % num_states[v];
    const double f = value(other);
    if (now == kNegInf || f >= now || random.uniform() < std::exp(f - now)) {
      at = other;
      now = f;
    }
  }
  for (const auto& [x, f] : known) found.best = std::max(found.best, f);
  if (is_task) return found;
  Assignment x(num_states.size(), 0);
  std::size_t size = 1;
  for (const int k : num_states) size *= static_cast<std::size_t>(k);
  for (std::size_t i = 0; i < size; ++i, next(x, num_states)) {
    const auto place = known.find(x);
    found.log_weights.push_back(place == known.end() ? kNegInf : place->second);
  }
  return found;
}

Outcome compare(const BlackBoxProblem& problem, const Oracle& oracle, const Found& found) {
  const std::vector<int>& num_states = problem.domain.num_states;
  std::vector<double> truth;
  Assignment x(num_states.size(), 0);
  for (std::size_t i = 0; i < found.log_weights.size(); ++i, next(x, num_states)) {
    const double value = problem.function(x);
    truth.push_back(std::isnan(value) ? kNegInf : value + oracle.tables(x));
  }
  Outcome outcome;
  const double log_z = log_sum_exp(truth), log_x = log_sum_exp(found.log_weights);
  std::vector<std::vector<double>> off;
  for (const int k : num_states) off.emplace_back(k, 0.0);
  x.assign(num_states.size(), 0);
  for (std::size_t i = 0; i < truth.size(); ++i, next(x, num_states)) {
    const double p = std::exp(truth[i] - log_z);
    const double q =
        log_x == kNegInf ? 1.0 / static_cast<double>(truth.size()) : std::exp(found.log_weights[i] - log_x);
    outcome.variation += 0.5 * std::abs(p - q);
    for (std::size_t v = 0; v < x.size(); ++v) off[v][x[v]] += p - q;
  }
  for (const auto& differences : off) {
    double worst = 0.0;
    for (const double d : differences) worst = std::max(worst, std::abs(d));
    outcome.marginals += worst / static_cast<double>(off.size());
  }
  outcome.log_z = log_x == kNegInf ? 99.0 : std::abs(log_x - log_z);
  outcome.best = *std::max_element(truth.begin(), truth.end()) - found.best;
  if (found.interval) {
    outcome.given = 1;
    outcome.covering = found.interval->lower - 1e-6 <= log_z && log_z <= found.interval->upper + 1e-6 ? 1 : 0;
  }
  return outcome;
}

Outcome run(const Job& job) {
  const std::vector<std::string>& tasks = black_box_tasks();
  const bool is_task = std::find(tasks.begin(), tasks.end(), job.kind.substr(0, job.kind.find('+'))) != tasks.end();
  const BlackBoxProblem problem = black_box_problem(job.kind, job.instance);
  Oracle oracle(problem, job.instance);
  const double start = thread_seconds();
  const Found found = job.method == "old"        ? old(problem, oracle, job, is_task)
                      : job.method == "remember" ? remember(problem, oracle, job, is_task)
                                                 : ours(problem, oracle, job, is_task);
  const double seconds = thread_seconds() - start;
  Outcome outcome;
  if (is_task) {
    outcome.best = found.best;
  } else {
    outcome = compare(problem, oracle, found);
  }
  outcome.seconds = seconds;
  return outcome;
}

void print_means(const std::vector<Job>& jobs, const std::vector<Outcome>& outcomes) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<Outcome, int>> sums;
  const auto add = [&](const std::string& key, const Outcome& outcome) {
    if (!sums.contains(key)) order.push_back(key);
    auto& [sum, count] = sums[key];
    sum.variation += outcome.variation;
    sum.log_z += outcome.log_z;
    sum.marginals += outcome.marginals;
    sum.best += outcome.best;
    sum.seconds += outcome.seconds;
    sum.given += outcome.given;
    sum.covering += outcome.covering;
    ++count;
  };
  for (std::size_t i = 0; i < jobs.size(); ++i)
    add(fmt::format("{:14s} {:5d} {:12s}", jobs[i].kind, jobs[i].calls, jobs[i].method), outcomes[i]);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    add(fmt::format("{:14s} {:5d} {:12s}", "mean", jobs[i].calls, jobs[i].method), outcomes[i]);
  fmt::print("# kind, calls, method: TV, |d log Z|, marginals, best, seconds; intervals covering of given, of runs\n");
  for (const std::string& key : order) {
    const auto& [sum, count] = sums[key];
    fmt::print("# {} {:6.3f} {:7.3f} {:6.3f} {:7.3f} {:7.2f}  {} of {} of {}\n", key, sum.variation / count,
               sum.log_z / count, sum.marginals / count, sum.best / count, sum.seconds / count, sum.covering, sum.given,
               count);
  }
}

int run_all(const std::vector<std::string>& arguments) {
  std::vector<std::string> kinds = split(arguments[0]);
  const auto expand = [&](const std::string& name, const std::vector<std::string>& all) {
    const auto place = std::find(kinds.begin(), kinds.end(), name);
    if (place != kinds.end()) kinds.insert(kinds.erase(place), all.begin(), all.end());
  };
  expand("all", black_box_kinds());
  expand("strangers", stranger_kinds());
  expand("wide", wide_kinds());
  expand("tasks", black_box_tasks());
  const std::vector<std::string> range = split(arguments[2], '-');
  std::vector<Job> jobs;
  for (const std::string& kind : kinds) {
    for (const std::string& calls : split(arguments[1])) {
      for (const std::string& method : split(arguments[3])) {
        for (int i = std::stoi(range.front()); i <= std::stoi(range.back()); ++i)
          jobs.push_back({kind, method, static_cast<std::uint64_t>(i), std::stoi(calls)});
      }
    }
  }
  std::vector<Outcome> outcomes(jobs.size());
  std::vector<std::size_t> order(jobs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Long runs go first, so that no thread is left with one at the end.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].calls > jobs[b].calls; });
  std::atomic<std::size_t> next_job = 0;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t i = next_job++; i < jobs.size(); i = next_job++) {
      const Job& job = jobs[order[i]];
      try {
        const Outcome out = outcomes[order[i]] = run(job);
        const std::lock_guard lock(printing);
        fmt::print("{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.3f},{},{}\n", job.kind, job.instance, job.calls,
                   job.method, out.variation, out.log_z, out.marginals, out.best, out.seconds, out.given, out.covering);
        std::fflush(stdout);
      } catch (const std::exception& error) {
        const std::lock_guard lock(printing);
        fmt::print(stderr, "{} {} {} {}: {}\n", job.kind, job.instance, job.calls, job.method, error.what());
      }
    }
  };
  fmt::print("kind,instance,calls,method,tv,log_z,marginals,best,seconds,given,covering\n");
  std::vector<std::thread> threads;
  for (int t = 0; t < (arguments.size() > 4 ? std::stoi(arguments[4]) : 1); ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  print_means(jobs, outcomes);
  return 0;
}

}  // namespace
}  // namespace treesample::bench

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: black_box_bench KINDS CALLS INSTANCES METHODS [THREADS]\n");
    return 64;
  }
  return treesample::bench::run_all({argv + 1, argv + argc});
}
