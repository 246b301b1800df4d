#include "network_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "decimal_log.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/network.hpp"
#include "treesample/text.hpp"

namespace treesample {

void check_network_form(const FactorGraph& graph, std::string_view format) {
  if (check_network(graph).has_form) return;
  throw Error(
      ErrorCode::kArgument,
      fmt::format("only Bayesian networks can be written as {}: one table for each variable, with that variable "
                  "last in its scope; this model has {} and {}",
                  format, counted(graph.num_variables(), "variable"), counted(graph.num_factors(), "factor")));
}

std::string writable_name(const std::string& name) {
  const bool has_ends =
      name.empty() || name.front() == ' ' || name.front() == '\t' || name.back() == ' ' || name.back() == '\t';
  if (!has_ends && name.find_first_of("\r\n") == std::string::npos) return name;
  throw Error(ErrorCode::kArgument, fmt::format("the name '{}' cannot be written in this format", shortened(name, 60)));
}

void append_network_entry(std::string& text, double log_value) {
  if (log_value != kNegInf && std::abs(log_value) > kMaxDecimalLog) {
    throw Error(ErrorCode::kArgument,
                fmt::format("an entry is {:g} in the log domain, allowed are {:g} to {:g} and -inf", log_value,
                            -kMaxDecimalLog, kMaxDecimalLog));
  }
  append_exp_decimal(text, log_value);
}

}  // namespace treesample
