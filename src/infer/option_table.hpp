// The rows behind infer_options(): where an option is stored, what it may be, and which ways to infer use it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/infer/options.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Ways to infer: a method; the search has one for each of its rules. Sets are bit masks.
using Ways = unsigned;
constexpr Ways way(SelectRule rule) { return 1U << static_cast<unsigned>(rule); }
constexpr Ways way(Method method) { return 256U << static_cast<unsigned>(method); }
constexpr Ways way(Method method, SelectRule rule) { return method == Method::kSearch ? way(rule) : way(method); }
inline constexpr Ways kRules = 255U;  // of the search
inline constexpr Ways kSearches = kRules + way(Method::kTree);
inline constexpr Ways kEveryWay = ~0U;
// "search --select gap or mass, smc"; rules are named where not all of them are in the set.
std::string ways_text(Ways ways);

// What an option that asks for something does not go with. Each is refused by name (InferRequest::validate).
enum NotWith : unsigned {
  kNotWithCases = 1,     // --cases: its result has no place in a row of a table
  kNotWithCircuits = 2,  // --compile, and models that are circuits: they do not answer it
  kNotWithBest = 4,      // --question best: there are no probabilities
  kNotWithLogZ = 8,      // --question logz: nothing else is answered
};

struct Answer;
struct Model;
class Run;

struct OptionRow {
  const char* name;
  const char* group;  // the title under which help shows it
  Ways ways;          // that use the option
  const char* help;
  // Access to the field.
  void (*set)(InferRequest& request, const OptionRow& row, std::string_view text);
  bool (*is_given)(const InferRequest& request);
  std::string (*text)(const InferRequest& request);              // empty: left open
  std::optional<double> (*number)(const InferRequest& request);  // for the range check of numbers
  void (*copy)(const InferRequest& from, InferRequest& to);
  std::string meta;  // placeholder for the value, or the words separated by bars
  double low = 0.0, high = 0.0;
  bool is_common = false;
  // Whether it matters here, to a way that uses it (null: always), and the reason where it does not.
  bool (*matters)(const InferRequest& resolved, const FactorGraph& graph) = nullptr;
  const char* why_not = "";
  bool is_repeated = false;  // each use adds to it
  std::string initial = {};  // the default; empty: the field's own
  unsigned not_with = 0;     // NotWith
  // Of a question that is answered by itself, after log Z: throws OptionError where it cannot be asked of the model,
  // and adds its result to the answer.
  void (*check)(const Model& model, const Question& question) = nullptr;
  void (*answer)(Answer& answer, const Model& model, const InferRequest& request, const Run& run) = nullptr;
  const char* old_name = "";  // of earlier versions; accepted with a remark
};
std::span<const OptionRow> option_rows();
const OptionRow& option_row(std::string_view name);

// The rows of src/infer/sensitivity.cpp.
std::vector<OptionRow> derivative_questions();

// For all questions that are given: their row's check, and what circuits do not answer where `by_circuit`.
void check_questions(const Model& model, const InferRequest& request, bool by_circuit);
// For those that have a function for it.
void answer_questions(Answer& answer, const Model& model, const InferRequest& request, const Run& run);

// The value of everything that neither the user nor the plan has set.
InferRequest default_request();

// True if a method with these options knows U, so that a gap can end it.
bool has_upper_bound(const InferOptions& resolved, const FactorGraph& graph);

}  // namespace treesample
