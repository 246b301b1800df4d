// What can be asked of a model, and the answers to what is asked in addition to log Z.
//
// CONTRIBUTING has the recipe for a new question: a field of Question and one of AskedAnswers, here; the row of its
// option, which says how it is asked and answered (src/infer/option_table.hpp); the row of its result, which says how
// it is shown (src/page/result_table.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "treesample/infer/sensitivity.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

enum class Aim {
  kAll,
  kBest,  // only the most probable configuration: no marginals, and functions are called for nothing else
};

// What is asked, in addition to log Z. Variables are named as in model/names.hpp.
struct Question {
  Aim aim = Aim::kAll;
  bool marginals = true;
  // Each is one variable, {"lung"}, or several for their joint distribution, {"lung", "tub"}; answered in
  // Answer::queries. The answer has the marginals of all variables too.
  std::vector<std::vector<std::string>> query = {};
  bool best = true;         // the most probable configuration, or the best that was met
  std::int64_t k_best = 1;  // how many of them, best first; answered in Answer::k_best where it is more than one
  // Marginal MAP: the most probable states of these variables, with all others summed out; answered in Answer::map.
  std::vector<std::string> map = {};
  // Derivatives of P(state | evidence), "lung=yes", or of log Z, "evidence", with respect to the entries of all tables.
  std::string sensitivity = {};
  std::string value_for = {};  // what observing each other variable would tell about this one
  bool entropy = false;        // of the distribution
  std::int64_t samples = 0;    // to be drawn
  // The seconds that the caller will take to show these samples; they count towards the time limit. May be empty.
  std::function<double(const std::vector<Assignment>&)> seconds_to_show = {};
};

// The answer to one query: P(variables | evidence).
struct QueryAnswer {
  std::vector<int> variables;
  // Row-major over their states, the last variable fastest; empty when there are none (Z = 0).
  std::vector<double> probabilities;
  std::optional<double> error;  // standard error of each, as in Answer::marginal_errors; none where it is not known
};

// The states of the query's variables in a row of its probabilities.
Evidence query_states(const QueryAnswer& query, const FactorGraph& graph, std::size_t row);

// The answer to a question for the most probable states of some variables, with all others summed out. S(y) is the sum
// of exp(log density) over the configurations in which these variables have the states y.
struct MapAnswer {
  std::vector<int> variables;
  std::vector<int> states;  // y, the best that was found; empty for an impossible model
  LogBounds log_value;      // certified: of log S(y)
  double log_upper = 0.0;   // certified: no choice of states has a larger log S
  bool is_optimal = false;  // log_upper is as close to log_value.lower as rounding allows
  std::string by;           // how it was found
};

// The answers to what Question asks for. A member is empty where it was not asked for, and where it could not be
// answered within the limits, which a remark then says.
struct AskedAnswers {
  std::vector<QueryAnswer> queries;   // in the order of Question::query
  std::vector<Configuration> k_best;  // where Question::k_best is more than one: as many as there are, best first
  bool is_k_best_optimal = false;     // up to rounding, no other configuration is better than these
  std::optional<MapAnswer> map;       // where Question::map names variables
  std::optional<Sensitivity> sensitivity;
  std::optional<ObservationValues> observation_values;
  std::optional<double> entropy;  // -sum over x of P(x) log P(x), in nats; exact up to rounding
};

}  // namespace treesample
