// Functions that the writers of all formats of Bayesian networks share.
#pragma once

#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error (kArgument) unless each variable is the last one in the scope of exactly one table.
void check_network_form(const FactorGraph& graph, std::string_view format);

// Returns the name. Throws Error (kArgument) for a name that would not be read back unchanged: one with a line break,
// or with blanks at its ends.
std::string writable_name(const std::string& name);

// Appends exp of a log-value as a decimal number, as format_uai writes it. Throws Error (kArgument) if it is out of
// range.
void append_network_entry(std::string& text, double log_value);

}  // namespace treesample
