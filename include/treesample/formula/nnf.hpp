// Deterministic decomposable negation normal form: the file format `.nnf` of compilers of formulas.
//
//   nnf NODES EDGES VARIABLES
//   L 3               a literal: variable 3 is true (-3: false)
//   A 2 0 1           all of these earlier nodes; A 0 is true
//   O 3 2 4 5         one of these nodes, which disagree on variable 3; O 0 0 is false
//
// The nodes below an A share no variable, and of those below an O at most one holds, so that one pass counts solutions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/count/circuit.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct Nnf {
  enum class Kind : char { kLiteral, kAnd, kOr };
  struct Node {
    Kind kind = Kind::kAnd;
    int literal = 0;                    // of a literal, or the variable on which the nodes below an O disagree
    std::uint32_t first = 0, last = 0;  // in `edges`
  };
  int num_variables = 0;
  std::vector<Node> nodes;  // the last one is the formula
  std::vector<std::uint32_t> edges;
};

// The circuit of a formula: variables of two states, and no table over several variables but those of zeros and ones.
// Throws kArgument for any other. It is smooth: the nodes below an O have the same variables. Weights are not written.
std::string format_nnf(const Circuit& circuit);
// The same in a file whose name ends in .nnf; any other gets the circuit as write_circuit() writes it.
void write_compiled(const Circuit& circuit, const std::filesystem::path& path);

// Throws kParse naming the line. It checks that nodes use earlier nodes, that those below an A share no variable, and
// that those below an O disagree on its variable; kResource where the limits of time and memory do not suffice for
// that.
Nnf parse_nnf(std::string_view text, std::string_view source_name, const Limits& limits = {});

// The number of solutions, as decimal digits. Throws kResource where the limits of time and memory do not suffice.
std::string count_nnf(const Nnf& nnf, const Limits& limits = {});

}  // namespace treesample
