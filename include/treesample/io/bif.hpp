// Bayesian networks in the interchange format BIF, as the public repositories use it:
//
//   network NAME { }
//   variable Cold { type discrete [ 2 ] { yes, no }; }
//   probability ( Cold ) { table 0.1, 0.9; }
//   probability ( Cough | Cold, Smoker ) {
//     (yes, no) 0.8, 0.2;                 P(Cough | Cold = yes, Smoker = no), one number per state
//     default 0.3, 0.7;                   for all combinations of parents without a row
//   }
//
// Names may be quoted. Commas and the bar are optional. `property ...;` and comments (// and /* */) are skipped. A
// variable is declared before it is used and has exactly one probability block. A `table` with parents runs through the
// child's states slowest and the last parent's fastest.
//
// The model gets one factor per block with the scope (parents..., child), the child fastest, and keeps the names of
// variables and states. Probabilities must be non-negative; they are not normalised, because published networks are
// rounded. model/network.hpp checks for rows that do not add up to 1 and for cycles.
//
// Because `default` makes large tables from few bytes, all tables together may have at most kBifFreeEntries entries
// plus one per byte of the file.
//
// Both throw Error: kParse as "file:line: what is allowed, found 'token'", kIo, kResource.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

inline constexpr std::int64_t kBifFreeEntries = std::int64_t{1} << 22;

// `source_name` is the name of the file in messages.
FactorGraph parse_bif(std::string_view text, std::string_view source_name);

// Throws Error (kArgument) unless the graph has the form of a Bayesian network (model/network.hpp), and for names with
// quotes in them, which the format cannot express. Entries are written as format_uai does.
std::string format_bif(const FactorGraph& graph);

}  // namespace treesample
