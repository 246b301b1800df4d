// Models and evidence in the text format of the UAI inference competitions.
//
// A model is a list of tokens; line breaks have no meaning:
//
//   MARKOV | BAYES                       in any case; both give the same kind of model here
//   N  K_0 ... K_(N-1)                   variables and their numbers of states
//   M  then M times: arity  variables    scopes; arity 0 (a constant) and equal scopes are legal
//   M times: number of entries, entries  tables, last variable of the scope fastest
//
// Entries are non-negative reals. The model holds their logs, and 0 as -inf. Entries outside the range of a double
// (1e-400, 1e2000) are read correctly, because their logs fit. The tables of a BAYES file are not required to sum to 1.
//
// Evidence is `n v x v x ...` (n pairs of variable and state, as from 2010 on), or the same after a number of samples,
// which must be 1 (2008); the number of tokens tells which. An empty file means no evidence.
//
// All readers throw Error: kParse as "file:line: what is allowed, found 'token'", kIo, kResource.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

FactorGraph read_uai(const std::filesystem::path& path);
// `source_name` is the name of the file in messages.
FactorGraph parse_uai(std::string_view text, std::string_view source_name);
// True if a text that parse_uai reads begins with BAYES.
bool is_uai_network(std::string_view text);

// Variables and states must exist in the model; a variable may not be observed in two states.
Evidence read_uai_evidence(const std::filesystem::path& path, const FactorGraph& graph);
Evidence parse_uai_evidence(std::string_view text, std::string_view source_name, const FactorGraph& graph);

// A query file: how many variables, and their numbers. It tells of which variables the marginal MAP is asked for.
std::vector<int> read_uai_query(const std::filesystem::path& path, const FactorGraph& graph);
std::vector<int> parse_uai_query(std::string_view text, std::string_view source_name, const FactorGraph& graph);

// The model as a file, by default a MARKOV one; names are lost. Each entry is the shortest number that reads back as
// the same double exp(psi), so that a log-value is read back up to rounding (an absolute error of 3e-16 below 1, a few
// units in the last place above). If exp(psi) is outside of the normal range of a double, it is written with a larger
// exponent. read_uai reads it back, but programs that keep linear doubles will see 0 or infinity. Throws kArgument for
// a function factor and for finite |psi| above 1e15.
enum class UaiKind { kMarkov, kBayes };  // the first word of the file
std::string format_uai(const FactorGraph& graph, UaiKind kind = UaiKind::kMarkov);
void write_uai(const FactorGraph& graph, const std::filesystem::path& path);

// The evidence in the form without a number of samples.
std::string format_uai_evidence(const Evidence& evidence);
void write_uai_evidence(const Evidence& evidence, const std::filesystem::path& path);

}  // namespace treesample
