// Compares the search with bounds on several threads and on one, in one run: reward evaluations per second of
// wall-clock time and of processor time, and the remaining gap U - L. The bounds of all runs must overlap.
//
//   threads_bench [--seconds S | --evaluations E] [--threads 1,2] [--space andor] [--i-bound I] [MODEL.uai [EVIDENCE]]
//
// Without a model it uses Ising 16x16 and FACTOR GRAPHS 2 with 100 variables. With --evaluations every thread makes
// that many, however long it takes; U - L can then be compared even if the machine has other work.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "treesample/families/family.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/search/search.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace {

using namespace treesample;

struct Setting {
  double seconds = 4.0;
  std::int64_t evaluations = 0;
  std::vector<int> threads = {1, 2};
  SpaceKind space = SpaceKind::kAndOr;
  int i_bound = 8;
};

struct Row {
  SearchReport report;
  double wall = 0.0, processor = 0.0;

  [[nodiscard]] double evaluations() const { return static_cast<double>(report.spent.reward_evaluations); }
  [[nodiscard]] double gap() const { return report.log_z.upper - report.log_z.lower; }
};

Row measure(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves, const Setting& setting,
            int threads) {
  Limits limits{.bytes = std::size_t{8} << 30, .threads = threads};
  Observer observer;
  std::int64_t spent = 0;
  if (setting.evaluations > 0) {
    observer.progress = [&](const Progress& now) { spent = now.spent.reward_evaluations; };
    observer.should_stop = [&, most = setting.evaluations * threads] { return spent >= most; };
  } else {
    limits.seconds = setting.seconds;
  }
  Row row;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor_start = std::clock();
  row.report = search(graph, space, leaves, limits, {.observer_interval = 16}, observer).report;
  row.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  row.processor = static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC;
  return row;
}

bool measure_model(const std::string& name, const FactorGraph& graph, const Setting& setting) {
  const OrderKind order = setting.space == SpaceKind::kGraph ? OrderKind::kGiven : OrderKind::kMinFill;
  const SearchSpace space =
      make_search_space(graph, search_order(graph, setting.space, {.kind = order}), setting.space);
  MiniBucketOptions options{.i_bound = setting.i_bound};
  const LeafValues leaves = mini_bucket_leaves(
      graph, space, std::make_shared<WeightedMiniBucket>(graph, space, options), mean_field(graph, 20, 0));
  Row one;
  LogBounds all;
  for (const int threads : setting.threads) {
    const Row row = measure(graph, space, leaves, setting, threads);
    if (threads == setting.threads.front()) one = row;
    all = {std::max(all.lower, row.report.log_z.lower), std::min(all.upper, row.report.log_z.upper)};
    const double speed = row.evaluations() / row.wall, first_speed = one.evaluations() / one.wall;
    const double efficiency = row.evaluations() / row.processor * one.processor / one.evaluations();
    fmt::print("{},{},{:.0f},{:.2f},{:.2f},{:.3g},{:.2f},{:.2f},{},{:.4g},{:.3f},{}\n", name, threads,
               row.evaluations(), row.wall, row.processor, speed, speed / first_speed, efficiency,
               row.report.num_traversals, row.gap(), row.gap() / one.gap(), to_string(row.report.stop));
    std::fflush(stdout);
  }
  if (all.lower <= all.upper) return true;
  fmt::print("FAILED: bounds of {} do not overlap\n", name);
  return false;
}

std::vector<int> numbers(const std::string& text) {
  std::vector<int> result;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) result.push_back(std::atoi(word.c_str()));
  return result;
}

FactorGraph family(const char* name, double n) {
  FamilyOptions options{.seed = 1};
  options.values = {{"n", n}};
  return make_family(name, options).graph;
}

}  // namespace

int main(int argc, char** argv) {
  Setting setting;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = word.rfind("--", 0) == 0 && i + 1 < argc ? argv[++i] : "";
    if (word == "--seconds") setting.seconds = std::atof(value.c_str());
    if (word == "--evaluations") setting.evaluations = std::atoll(value.c_str());
    if (word == "--threads") setting.threads = numbers(value);
    if (word == "--i-bound") setting.i_bound = std::atoi(value.c_str());
    if (word == "--space" && value != "andor") setting.space = value == "tree" ? SpaceKind::kTree : SpaceKind::kGraph;
    if (value.empty()) files.push_back(word);
  }
  fmt::print(
      "model,threads,evaluations,wall_seconds,processor_seconds,evaluations_per_second,ratio,ratio_per_processor,"
      "traversals,"
      "gap,gap_ratio,stop\n");
  bool is_correct = true;
  if (files.empty()) {
    is_correct = measure_model("ising 16x16", family("ising", 16), setting);
    is_correct = measure_model("factor-graphs-2 100", family("factor-graphs-2", 100), setting) && is_correct;
  } else {
    const FactorGraph graph = read_uai(files[0]);
    const Evidence evidence = files.size() > 1 ? read_uai_evidence(files[1], graph) : Evidence();
    is_correct =
        measure_model(files[0].substr(files[0].rfind('/') + 1), simplify(graph, evidence).model.graph, setting);
  }
  return is_correct ? 0 : 1;
}
