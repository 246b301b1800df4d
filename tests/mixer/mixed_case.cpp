#include "mixer/mixed_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/order_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/parse_number.hpp"

namespace treesample::mixer {
namespace {

using Kind = MixedFactor::Kind;

// The index of a row of states in a table.
std::size_t entry_of(const std::vector<int>& num_states, std::span<const int> states) {
  std::size_t entry = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    entry = entry * static_cast<std::size_t>(num_states[i]) + static_cast<std::size_t>(states[i]);
  }
  return entry;
}

Factor made(const MixedFactor& factor, const std::vector<int>& all_states) {
  if (factor.kind == Kind::kTable) return Factor::table(factor.scope, factor.log_values);
  std::vector<int> num_states;
  for (const int v : factor.scope) num_states.push_back(all_states[static_cast<std::size_t>(v)]);
  const auto num_calls = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto look_up = [num_states, num_calls, kind = factor.kind,
                        values = factor.log_values](std::span<const int> states) {
    const std::size_t entry = entry_of(num_states, states);
    if (kind == Kind::kFailingFunction && entry % 5 == 3) throw std::runtime_error("fails here");
    const bool is_noisy = kind == Kind::kNoisyFunction && values[entry] != kNegInf;
    return is_noisy ? values[entry] + 0.3 * Random((*num_calls)++, "noise").normal() : values[entry];
  };
  std::optional<double> most;
  if (factor.kind == Kind::kBoundedFunction) {
    const double largest = *std::max_element(factor.log_values.begin(), factor.log_values.end());
    if (largest != kNegInf) most = largest;
  }
  const Factor function = Factor::function(factor.scope, look_up, most);
  return factor.kind == Kind::kMonotoneFunction ? function.monotone(factor.directions) : function;
}

constexpr const char* kKindWords[] = {"table", "function", "bounded", "monotone", "noisy", "failing"};

}  // namespace

bool MixedCase::has(MixedFactor::Kind kind) const {
  return std::any_of(factors.begin(), factors.end(), [=](const MixedFactor& f) { return f.kind == kind; });
}

bool MixedCase::has_option(std::string_view name) const {
  return std::any_of(options.begin(), options.end(), [&](const auto& given) { return given.first == name; });
}

Model MixedCase::model() const {
  FactorGraph graph;
  for (const int states : num_states) graph.add_variable(states);
  for (const MixedFactor& factor : factors) graph.add_factor(made(factor, num_states));
  Model model(std::move(graph), evidence);
  model.soft_evidence = soft_evidence;
  return model;
}

InferRequest MixedCase::request() const {
  InferRequest request;
  for (const auto& [name, value] : options) set_option(request, name, value);
  if (order.empty()) return request;
  // A thread has one case at a time.
  const std::size_t thread = std::hash<std::thread::id>{}(std::this_thread::get_id());
  const auto file = std::filesystem::temp_directory_path() / fmt::format("mixer-{}-{}.order", ::getpid(), thread);
  write_file_atomically(file, order_text({order, slices}, model().graph));
  set_option(request, "order-file", file.string());
  return request;
}

std::string MixedCase::text() const {
  std::string text = fmt::format("family {}\nstates", family);
  for (const int states : num_states) text += fmt::format(" {}", states);
  text += "\n";
  for (const MixedFactor& factor : factors) {
    text += fmt::format("factor {} {}", kKindWords[static_cast<int>(factor.kind)], factor.scope.size());
    for (const int v : factor.scope) text += fmt::format(" {}", v);
    for (const Direction direction : factor.directions) text += fmt::format(" {}", static_cast<int>(direction));
    for (const double value : factor.log_values) text += fmt::format(" {}", value);
    text += "\n";
  }
  for (const Observation& seen : evidence) text += fmt::format("observed {} {}\n", seen.variable, seen.state);
  for (const SoftObservation& seen : soft_evidence) {
    text += fmt::format("weighted {}", seen.variable);
    for (const double weight : seen.weights) text += fmt::format(" {}", weight);
    text += "\n";
  }
  for (const auto& [name, value] : options) text += fmt::format("option {} {}\n", name, value);
  if (!door.empty()) text += fmt::format("door {} {}\n", door, door_seed);
  if (!format.empty()) text += fmt::format("format {}\n", format);
  if (!order.empty()) text += fmt::format("order {}\n", fmt::join(order, " "));
  if (!slices.empty()) text += fmt::format("slices {}\n", fmt::join(slices, " "));
  for (const Evidence& seen : cases) {
    text += "case";
    for (const Observation& one : seen) text += fmt::format(" {} {}", one.variable, one.state);
    text += "\n";
  }
  return text;
}

MixedCase reading_of(const std::string& text) {
  MixedCase result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, word;
    words >> first;
    const auto fail = [&] { throw Error(ErrorCode::kParse, "not a line of a mixed case: " + line); };
    const auto number = [&] {
      if (!(words >> word)) fail();
      const std::optional<double> value = word == "-inf" ? kNegInf : parse_real(word);
      if (!value) fail();
      return *value;
    };
    const auto whole = [&] { return static_cast<int>(number()); };
    if (first == "family") {
      words >> result.family;
    } else if (first == "states") {
      while (words >> word) result.num_states.push_back(std::stoi(word));
    } else if (first == "factor") {
      MixedFactor factor;
      words >> word;
      const auto* const found = std::find(std::begin(kKindWords), std::end(kKindWords), word);
      if (found == std::end(kKindWords)) fail();
      factor.kind = static_cast<Kind>(found - std::begin(kKindWords));
      std::size_t entries = 1;
      for (int left = whole(); left > 0; --left) factor.scope.push_back(whole());
      for (const int v : factor.scope) entries *= static_cast<std::size_t>(result.num_states.at(v));
      if (factor.kind == Kind::kMonotoneFunction) {
        for (std::size_t i = 0; i < factor.scope.size(); ++i) {
          factor.directions.push_back(static_cast<Direction>(whole()));
        }
      }
      for (std::size_t i = 0; i < entries; ++i) factor.log_values.push_back(number());
      result.factors.push_back(std::move(factor));
    } else if (first == "observed") {
      const int variable = whole();
      result.evidence.push_back({variable, whole()});
    } else if (first == "weighted") {
      SoftObservation seen{.variable = whole()};
      for (int k = 0; k < result.num_states.at(seen.variable); ++k) seen.weights.push_back(number());
      result.soft_evidence.push_back(std::move(seen));
    } else if (first == "option") {
      std::string name, value;
      words >> name;
      std::getline(words >> std::ws, value);
      result.options.emplace_back(name, value);
    } else if (first == "format") {
      words >> result.format;
    } else if (first == "door") {
      words >> result.door >> result.door_seed;
    } else if (first == "order" || first == "slices") {
      std::vector<int>& list = first == "order" ? result.order : result.slices;
      while (words >> word) list.push_back(std::stoi(word));
    } else if (first == "case") {
      Evidence& seen = result.cases.emplace_back();
      for (int variable = 0; words >> variable;) seen.push_back({variable, whole()});
    } else if (!first.empty()) {
      fail();
    }
  }
  return result;
}

std::vector<MixedCase> smaller_cases(const MixedCase& original) {
  std::vector<MixedCase> smaller;
  const auto without = [&](auto MixedCase::*list) {
    for (std::size_t i = 0; i < (original.*list).size(); ++i) {
      MixedCase less = original;
      (less.*list).erase((less.*list).begin() + static_cast<std::ptrdiff_t>(i));
      smaller.push_back(std::move(less));
    }
  };
  without(&MixedCase::options);
  without(&MixedCase::cases);
  without(&MixedCase::slices);
  for (const bool is_order : {true, false}) {
    MixedCase less = original;
    if (is_order) less.order.clear(), less.slices.clear();
    if (!is_order) less.format.clear();
    if (less.order.size() != original.order.size() || less.format != original.format)
      smaller.push_back(std::move(less));
  }
  without(&MixedCase::evidence);
  without(&MixedCase::soft_evidence);
  without(&MixedCase::factors);
  for (std::size_t m = 0; m < original.factors.size(); ++m) {
    if (original.factors[m].kind != Kind::kTable) {
      MixedCase less = original;
      less.factors[m].kind = Kind::kTable;
      less.factors[m].directions.clear();
      smaller.push_back(std::move(less));
    }
    MixedCase rounded = original;
    bool is_rounded = false;
    for (double& value : rounded.factors[m].log_values) {
      const double round = std::isfinite(value) ? std::round(value) : value;
      is_rounded = is_rounded || round != value;
      value = round;
    }
    if (is_rounded) smaller.push_back(std::move(rounded));
  }
  return smaller;
}

}  // namespace treesample::mixer
