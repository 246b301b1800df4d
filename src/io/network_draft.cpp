#include "network_draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "decimal_log.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"

namespace treesample {

NetworkDraft::NetworkDraft(SourceText source)
    : source_(source), entries_left_(kBifFreeEntries + static_cast<std::int64_t>(source.text.size())) {}

void NetworkDraft::fail(std::size_t offset, std::string_view message) const {
  throw_parse_error(source_, offset, message);
}

std::string NetworkDraft::shown(int variable) const { return quoted(source_, graph_.variable(variable).name); }

int NetworkDraft::declare(std::string name, std::vector<std::string> states, std::size_t offset) {
  if (name.empty()) fail(offset, "a variable has no name");
  if (!variables_.emplace(name, graph_.num_variables()).second) {
    fail(offset, fmt::format("variable {} is declared twice", quoted(source_, name)));
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& state : states) {
    if (!seen.insert(state).second) {
      fail(offset, fmt::format("variable {}: state {} is named twice", quoted(source_, name), quoted(source_, state)));
    }
  }
  if (states.empty() || states.size() > FactorGraph::kMaxStates) {
    fail(offset, fmt::format("variable {} has {} states, allowed are 1 to {}", quoted(source_, name), states.size(),
                             FactorGraph::kMaxStates));
  }
  has_table_.push_back(0);
  const int num_states = static_cast<int>(states.size());
  return graph_.add_variable({.num_states = num_states, .name = std::move(name), .state_names = std::move(states)});
}

int NetworkDraft::find(std::string_view name, std::size_t offset) const {
  const auto found = variables_.find(std::string(name));
  if (found == variables_.end()) {
    fail(offset, fmt::format("expected the name of a variable, found {}", quoted(source_, name)));
  }
  return found->second;
}

std::size_t NetworkDraft::begin_table(int child, const std::vector<int>& parents, std::size_t offset) {
  const std::int64_t allowed = std::min(entries_left_, FactorGraph::kMaxTableEntries);
  std::int64_t num_entries = graph_.num_states(child);
  for (const int parent : parents) {
    num_entries *= graph_.num_states(parent);
    if (num_entries > allowed) {
      fail(offset, fmt::format("the table of variable {} has more than the {} entries that are left in a file of this "
                               "size",
                               shown(child), allowed));
    }
  }
  entries_left_ -= num_entries;
  return static_cast<std::size_t>(num_entries / graph_.num_states(child));
}

void NetworkDraft::define(int child, std::vector<int> parents, std::vector<double> log_values, std::size_t offset) {
  if (std::exchange(has_table_[child], 1) != 0) {
    fail(offset, fmt::format("variable {} has a table already", shown(child)));
  }
  parents.push_back(child);
  try {
    graph_.add_table(std::move(parents), std::move(log_values));
  } catch (const Error& error) {
    fail(offset, fmt::format("the table of variable {}: {}", shown(child), error.what()));
  }
}

FactorGraph NetworkDraft::finish(std::size_t offset) {
  if (graph_.num_variables() == 0) fail(offset, "the network has no variables");
  const auto missing = std::find(has_table_.begin(), has_table_.end(), 0) - has_table_.begin();
  if (missing < graph_.num_variables()) {
    fail(offset, fmt::format("variable {} has no table", shown(static_cast<int>(missing))));
  }
  return std::move(graph_);
}

double NetworkDraft::log_of(std::string_view token, std::size_t offset) const {
  const std::optional<double> value = log_of_decimal(token);
  if (!value) fail(offset, fmt::format("expected a finite number of at least 0, found {}", quoted(source_, token)));
  return *value;
}

}  // namespace treesample
