#include "treesample/oracle/journal_calls.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "oracle/journal.hpp"
#include "treesample/io/csv.hpp"

namespace treesample {
namespace {

// The names of a scope as a journal stores it: separated by ", ". If a name itself contains that, all names are
// replaced by numbers.
std::vector<std::string> variables_of(const std::string& scope, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= scope.size();) {
    const std::size_t end = std::min(scope.find(", ", begin), scope.size());
    names.push_back(scope.substr(begin, end - begin));
    begin = end + 2;
  }
  if (count == 0 || names.size() == count) return names;
  names.clear();
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("x{}", i));
  return names;
}

std::string state_text(const std::string& variable, int state, std::span<const Variable> variables) {
  for (const Variable& known : variables) {
    const bool has_name = known.name == variable && state < static_cast<int>(known.state_names.size());
    if (has_name) return known.state_names[state];
  }
  return fmt::format("{}", state);
}

}  // namespace

JournalCalls journal_calls(const std::filesystem::path& path) {
  const JournalContents contents = read_for_looking(path);
  JournalCalls calls{
      .model = contents.head.model, .created = contents.head.created, .factors = {}, .calls = {}, .damaged = {}};
  std::map<std::string, int> index_of;
  for (const auto& [name, scope] : contents.head.factors) {
    index_of[name] = static_cast<int>(calls.factors.size());
    calls.factors.push_back({name, variables_of(scope, 0)});
  }
  for (const JournalRow& row : contents.rows) {
    JournalCall call{.number = row.number,
                     .finished = row.finished,
                     .worker = row.worker,
                     .factor = index_of.at(row.factor),
                     .states = {},
                     .log_value = row.log_value,
                     .seconds = row.seconds,
                     .failure = row.failure,
                     .witness = parse_witness(row.witness)};
    std::istringstream states(row.states);
    for (int state = 0; states >> state;) call.states.push_back(state);
    JournalCalls::Factor& factor = calls.factors[call.factor];
    if (factor.variables.size() != call.states.size()) {
      factor.variables = variables_of(contents.head.factors[call.factor].second, call.states.size());
    }
    calls.calls.push_back(std::move(call));
  }
  std::stable_sort(calls.calls.begin(), calls.calls.end(),
                   [](const JournalCall& a, const JournalCall& b) { return a.number < b.number; });
  for (const DamagedRow& row : contents.damaged) calls.damaged.push_back(row.text);
  return calls;
}

std::string call_time(double finished) {
  if (!(finished > 0.0 && finished < 1e11)) return "";
  const auto whole = static_cast<std::time_t>(finished);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03d}", fmt::gmtime(whole),
                     static_cast<int>((finished - static_cast<double>(whole)) * 1000.0));
}

std::string call_states(const JournalCalls& calls, const JournalCall& call, std::span<const Variable> variables) {
  const std::vector<std::string>& names = calls.factors[call.factor].variables;
  std::string text;
  for (std::size_t i = 0; i < call.states.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", names[i], state_text(names[i], call.states[i], variables));
  }
  return text;
}

std::string format_calls(const JournalCalls& calls, std::span<const Variable> variables) {
  std::vector<std::string> names;  // of all factors
  for (const JournalCalls::Factor& factor : calls.factors) {
    for (const std::string& name : factor.variables) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::vector<std::string> header;
  for (const char* const column : kCallColumns) header.push_back(call_column(column, names));
  header.insert(header.end(), names.begin(), names.end());
  std::string text = csv_line(header);
  for (const JournalCall& call : calls.calls) {
    const JournalCalls::Factor& factor = calls.factors[call.factor];
    const bool has_failed = !call.failure.empty();
    std::vector<std::string> fields = {call.number == 0 ? "" : fmt::format("{}", call.number),
                                       call_time(call.finished),
                                       call.worker,
                                       factor.name,
                                       fmt::format("{}", call.seconds),
                                       has_failed ? "" : fmt::format("{}", call.log_value),
                                       call.failure};
    for (const std::string& name : names) {
      const auto place = std::find(factor.variables.begin(), factor.variables.end(), name) - factor.variables.begin();
      const bool is_there = place < std::ssize(call.states);
      fields.push_back(is_there ? state_text(name, call.states[place], variables) : "");
    }
    text += csv_line(fields);
  }
  return text;
}

}  // namespace treesample
