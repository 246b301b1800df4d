// Random model families: the four of the paper's Table 1, and Ising grids.
//
// Each family has its own header with an Options struct (every size and every ambiguous sentence of
// the paper is a field), a preset per reading and a generator. This header holds what they share and
// a lookup by name, so that a program can offer all of them without knowing their fields.
//
// Seeds. Instance i of seed s draws from the streams Random(s, "<family>/<i>/<part>"). The parts (graph structure,
// table entries, ...) have separate streams, so that an option that changes one part leaves the others as they were:
// both readings of one instance share their graph and their noise.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// The paper's text does not determine all factors, and its numbers do not follow from the text.
enum class Reading {
  kLetter,  // as the text says (one exception: the sign of the chain's binary potential, see chain.hpp)
  kBest,    // with the constants that bring the results closest to the paper's; they are fitted, not in its text
};

struct FamilyInstance {
  FactorGraph graph;  // only tables
  // One per factor: "unary", "pair", "table", "not" or "majority". Graph networks have parameters per kind.
  std::vector<std::string> factor_kinds;
};

// No family makes tables with more entries than this in total (kResource).
inline constexpr std::int64_t kMaxFamilyEntries = std::int64_t{1} << 26;

struct FamilyOptions {
  Reading reading = Reading::kLetter;
  std::uint64_t seed = 0;
  std::uint64_t instance = 0;
  // Fields of the family's own Options struct, by name ("n", "k", "edge_probability", ...), that
  // differ from the preset of the reading. Switches are 0 or 1.
  std::map<std::string, double> values = {};
};

// One field of a family's Options struct: all that a command line needs to offer and explain it.
struct FamilyField {
  std::string name;
  std::optional<double> value;  // the preset's value; none if it is derived from other fields
  double low = 0.0;
  double high = 0.0;
  std::string help;
};

// "chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2", "ising".
std::vector<std::string> family_names();

// Throws Error (kArgument) for an unknown family.
std::vector<FamilyField> family_fields(std::string_view name, Reading reading = Reading::kLetter);

// Throws Error: kArgument for an unknown family or field, for a value outside its range, and if no random graph is
// accepted within max_attempts; kResource if the tables would have too many entries.
FamilyInstance make_family(std::string_view name, const FamilyOptions& options = {});

}  // namespace treesample
