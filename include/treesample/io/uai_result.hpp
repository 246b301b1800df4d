// Answers in the text format of the UAI inference competitions, 2014 and later.
//
//   PR                                   log10 of Z: of the partition function, or of the probability of
//   -0.2803                              the evidence when the model is a Bayesian network
//
//   MAR                                  all variables of the model in its order, observed ones included:
//   N  K_0 p p ...  K_1 p p ...          the number of states, then the probability of each
//
//   MAP                                  the most probable configuration: the number of variables, then the
//   N  x_0 x_1 ...                       state of each
//
//   MMAP                                 marginal MAP: the number of variables that were asked for, then
//   n  v x  v x ...                      each with its state
//
// The name of the file is the model's with ".PR", ".MAR", ".MAP" or ".MMAP" appended. (Before 2012 the second line was
// the number of evidence samples; it is not written.)
#pragma once

#include <filesystem>
#include <string>

#include "treesample/model/approximation.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

// The natural log of Z as the text of a PR file; "-inf" for Z = 0. Throws Error (kArgument) for NaN and +inf.
std::string format_uai_pr(double log_z);
// Throws Error (kArgument) when a variable has no states or a probability is outside 0..1.
std::string format_uai_mar(const Marginals& marginals);

// Both throw Error (kArgument) for a state below 0.
std::string format_uai_map(const Assignment& x);
std::string format_uai_mmap(const Evidence& states);

// These replace the file as a whole, as write_file_atomically does.
void write_uai_pr(double log_z, const std::filesystem::path& path);
void write_uai_mar(const Marginals& marginals, const std::filesystem::path& path);

}  // namespace treesample
