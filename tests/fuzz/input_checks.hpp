// What must hold for any bytes handed to a parser: either one Error (kParse) that names the source, or a
// model that survives writing and reading. Shared by the libFuzzer targets and by the unit test that
// replays the corpus with mutations. A broken claim throws std::logic_error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/protocol.hpp"
#include "treesample/count/circuit.hpp"
#include "treesample/error.hpp"
#include "treesample/io/bif.hpp"
#include "treesample/io/dimacs.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/io/xmlbif.hpp"
#include "treesample/nn/safetensors.hpp"
#include "treesample/text.hpp"

namespace treesample::testing {

inline void require(bool condition, const char* claim) {
  if (!condition) throw std::logic_error(claim);
}

// What `parse` returns, or nothing when it refuses its input as it should.
template <class Parse>
auto parsed_or_refused(const Parse& parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kParse, "refused input is a parse error");
    require(std::string_view(error.what()).starts_with("input:"), "a parse error names its source");
    require(std::string_view(error.what()).size() < 500, "a message stays short");
    require(printable(error.what()) == error.what(), "a message is printable");
    return {};
  }
}

inline void check_same_tables(const FactorGraph& a, const FactorGraph& b) {
  require(a.num_variables() == b.num_variables() && a.num_factors() == b.num_factors(), "the sizes return");
  for (int m = 0; m < a.num_factors(); ++m) {
    require(a.factor(m).scope() == b.factor(m).scope(), "the scopes return");
    const std::vector<double>& left = a.factor(m).log_values();
    const std::vector<double>& right = b.factor(m).log_values();
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double tolerance = 1e-15 * std::max(1.0, std::abs(left[i]));
      require(left[i] == right[i] || std::abs(left[i] - right[i]) <= tolerance, "the log-values return");
    }
  }
}

inline void check_round_trip(const FactorGraph& graph) {
  for (const Factor& factor : graph.factors()) {
    for (const double value : factor.log_values()) {
      if (std::isfinite(value) && std::abs(value) > 1e15) return;  // readable, but refused by the writer
    }
  }
  check_same_tables(graph, parse_uai(format_uai(graph), "written"));
}

inline void check_uai_input(std::string_view text) {
  if (const auto graph = parsed_or_refused([&] { return parse_uai(text, "input"); })) check_round_trip(*graph);
}

// A short file may have a million variables, which are not written again here.
inline void check_dimacs_input(std::string_view text) {
  const auto formula = parsed_or_refused([&] { return parse_formula(text, "input"); });
  if (!formula) return;
  const std::string written = format_formula(*formula);
  require(format_formula(parse_formula(written, "written")) == written, "the formula returns");
  if (formula->num_variables > 1000) return;
  try {
    check_same_tables(formula_graph(*formula), parse_dimacs(written, "written"));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kArgument || error.code() == ErrorCode::kResource,
            "negative weights and long clauses have no tables");
  }
}

inline void check_uai_evidence_input(std::string_view text) {
  FactorGraph graph;
  for (const int num_states : {2, 3, 1, 4, 2}) graph.add_variable(num_states);
  const auto evidence = parsed_or_refused([&] { return parse_uai_evidence(text, "input", graph); });
  if (!evidence) return;
  condition(graph, *evidence);  // accepts whatever was read
  const std::string written = format_uai_evidence(*evidence);
  require(format_uai_evidence(parse_uai_evidence(written, "written", graph)) == written, "the evidence returns");
}

inline void check_xmlbif_input(std::string_view text) {
  const auto graph = parsed_or_refused([&] { return parse_xmlbif(text, "input"); });
  if (!graph) return;
  check_round_trip(*graph);
  std::string written;
  try {
    written = format_xmlbif(*graph);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kArgument, "what cannot be written is refused");
    return;
  }
  check_same_tables(*graph, parse_xmlbif(written, "written"));
  require(format_xmlbif(parse_xmlbif(written, "written")) == written, "the text returns");
}

// A format of other tools: what was read survives being written as UAI and, where that can hold it, in its own format.
inline void check_model_input(std::string_view text, const char* extension) {
  const auto graph = parsed_or_refused([&] { return parse_model(text, extension, "input"); });
  if (!graph) return;
  check_round_trip(*graph);
  std::string written;
  try {
    written = format_model(*graph, std::string("written") + extension);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kArgument, "what cannot be written is refused");
    return;
  }
  const FactorGraph again = parse_model(written, extension, "written");
  require(again.num_variables() == graph->num_variables(), "the variables return");
  require(format_model(again, std::string("written") + extension) == written, "the text returns");
}
inline void check_xdsl_input(std::string_view text) { check_model_input(text, ".xdsl"); }
inline void check_net_input(std::string_view text) { check_model_input(text, ".net"); }
inline void check_dsc_input(std::string_view text) { check_model_input(text, ".dsc"); }
inline void check_fg_input(std::string_view text) { check_model_input(text, ".fg"); }
inline void check_wcsp_input(std::string_view text) { check_model_input(text, ".wcsp"); }
inline void check_cfn_input(std::string_view text) { check_model_input(text, ".cfn"); }
inline void check_wcnf_input(std::string_view text) { check_model_input(text, ".wcnf"); }

// The first byte says which form the rest has: words of a command line, CSV, JSON, or lines and UAI.
inline void check_evidence_input(std::string_view text) {
  if (text.empty()) return;
  FactorGraph graph;
  graph.add_variable({.num_states = 2, .name = "aa", .state_names = {"yes", "no"}});
  graph.add_variable({.num_states = 2, .name = "b, c", .state_names = {"1st", "2nd"}});
  graph.add_variable({.num_states = 3, .name = "d", .state_names = {"=", "~", "?"}});
  graph.add_variable(3);
  graph.add_variable({.num_states = 2, .name = "x=y", .state_names = {"q \"r\"", " "}});
  const Names names(graph);
  const char form = text.front();
  text.remove_prefix(1);
  std::vector<Case> cases;
  if (form == 'w') {
    cases.resize(1);
    try {
      observe(cases.front().observed, names, text);
    } catch (const Error& error) {
      require(error.code() == ErrorCode::kArgument, "refused words are an argument");
      require(std::string_view(error.what()).size() < 500, "a message stays short");
      return;
    }
  } else {
    const char* const extension = form == 'c' ? ".csv" : form == 'j' ? ".json" : "";
    const auto read = parsed_or_refused([&] { return parse_cases(text, "input", extension, names); });
    if (!read) return;
    cases = *read;
  }
  for (const Case& one : cases) {
    condition(with_soft_evidence(graph, one.observed.soft), one.observed.states);  // accepts whatever was read
    if (one.observed.empty()) continue;
    const std::string written = observations_text(graph, one.observed);
    Observations again;
    observe(again, names, written);
    require(observations_text(graph, again) == written, "the evidence returns");
  }
}

inline void check_bif_input(std::string_view text) {
  const auto graph = parsed_or_refused([&] { return parse_bif(text, "input"); });
  if (!graph) return;
  require(graph->num_factors() == graph->num_variables(), "one factor per variable");
  std::size_t num_entries = 0;
  for (const Factor& factor : graph->factors()) num_entries += factor.log_values().size();
  require(num_entries <= kBifFreeEntries + text.size(), "the tables stay within the limit");
  if (num_entries < 10'000) check_round_trip(*graph);
}

inline void check_json_model_input(std::string_view text) {
  const auto model = parsed_or_refused([&] { return parse_json_model(text, "input"); });
  if (!model) return;
  const std::string written = format_json_model(*model);
  require(format_json_model(parse_json_model(written, "written")) == written, "the description returns");
}

// A circuit that was read answers: it is written back bit for bit, nothing is NaN, and its samples are possible.
inline void check_circuit_input(std::string_view text) {
  const auto circuit = parsed_or_refused([&] { return parse_circuit(text, "input"); });
  if (!circuit) return;
  const std::string written = format_circuit(*circuit);
  require(format_circuit(parse_circuit(written, "written")) == written, "the circuit returns");
  const LogBounds bounds = circuit->log_z();
  require(bounds.lower <= bounds.upper, "the bounds are in order, and not NaN");
  for (const std::vector<double>& of_variable : circuit->marginals()) {
    for (const double share : of_variable) require(share >= 0.0 && share <= 1.0 + 1e-9, "marginals are shares");
  }
  if (bounds.upper == -HUGE_VAL) return;
  Random random(1);
  require(circuit->log_density(circuit->sample(random)) > -HUGE_VAL, "samples are possible");
  const Circuit::Best best = circuit->best();
  require(best.gap >= 0.0 && circuit->log_density(best.configuration.x) > -HUGE_VAL, "the best is possible");
  if (circuit->num_variables() == 0) return;
  const Circuit given = circuit->given({{0, 0}});
  require(given.log_z().lower <= bounds.upper, "what is observed is a part");
}

inline void check_safetensors_input(std::string_view bytes) {
  const auto file = parsed_or_refused([&] { return parse_safetensors(bytes, "input"); });
  if (!file) return;
  const TensorFile again = parse_safetensors(write_safetensors(*file), "written");
  require(again.metadata == file->metadata && again.tensors.size() == file->tensors.size(), "the tensors return");
  for (std::size_t i = 0; i < again.tensors.size(); ++i) {
    require(again.tensors[i].name == file->tensors[i].name && again.tensors[i].shape == file->tensors[i].shape,
            "names and shapes return");
  }
}

// A line of a program, as the answer to request 7 for two values and as its first word.
inline void check_program_answer_input(std::string_view line) {
  const auto answered_or_refused = [](const auto& read) {
    try {
      read();
    } catch (const ProgramComplaint&) {  // whatever it says
    } catch (const Error& error) {
      require(error.code() == ErrorCode::kParse || error.code() == ErrorCode::kNumeric, "a bad line is a bad answer");
      require(std::string_view(error.what()).size() < 500, "a message stays short");
      require(printable(error.what()) == error.what(), "a message is printable");
    }
  };
  answered_or_refused([&] {
    // Whether they are log-values is for whoever knows the factor to say.
    require(parse_answer(line, 7, 2).size() == 2, "as many values as were asked for");
  });
  answered_or_refused([&] { check_ready(line); });
}

}  // namespace treesample::testing
