// Functions that the writers of all formats of Bayesian networks share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error (kArgument) unless each variable is the last one in the scope of exactly one table, and there is one.
void check_network_form(const FactorGraph& graph, std::string_view format);

// Returns the name. Throws Error (kArgument) for a name that would not be read back unchanged: one with a line break,
// or with blanks at its ends.
std::string writable_name(const std::string& name);

// The name in double quotes, with a backslash before each quote and backslash in it. Throws as writable_name does.
std::string double_quoted(const std::string& name);

// Appends exp of a log-value as a decimal number, as format_uai writes it. Throws Error (kArgument) if it is out of
// range.
void append_network_entry(std::string& text, double log_value);

// Identifiers of letters, digits and _, not beginning with a digit: other bytes become _, and where two names became
// equal, a number makes them differ.
std::vector<std::string> identifiers(const std::vector<std::string>& names);
std::vector<std::string> variable_names(const FactorGraph& graph);
std::vector<std::string> state_names(const FactorGraph& graph, int variable);

// The names of the parents in the scope of a table, whose last variable is the child.
std::string parents_text(const std::vector<int>& scope, const std::vector<std::string>& names,
                         std::string_view separator);

// The tables of a graph of that form: by variable.
std::vector<int> tables_of_variables(const FactorGraph& graph);
// The variables of a graph of that form, each after its parents. If parents form a cycle, its variables come last.
std::vector<int> parents_first(const FactorGraph& graph);

}  // namespace treesample
