// The messages between a worker and its program: one JSON object per line. docs/model_file.md has the protocol with
// examples.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/oracle.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {

inline constexpr int kProtocolVersion = 1;

// The names of its states, or their number where they have none.
nlohmann::json described_states(const Variable& variable);
// First line to a program: the factors that it computes, with scopes and states.
std::string format_hello(const JsonModel& model, int program);
std::string format_request(std::int64_t id, const std::string& factor, std::span<const std::vector<int>> assignments);

// The readers throw Error (kParse) with the problem and the shortened line, and ProgramComplaint when the program
// answers "error".
void check_ready(std::string_view line);
// The answer to request `id`. NaN and infinities are returned unchanged, for the caller to refuse; an entry {"error":
// "..."} is the failure of one assignment, {"log_value": X, "witness": [NAME, ...]} a value with a witness of the
// scope's variables, whose names are `variables`.
std::vector<Evaluation> parse_answer(std::string_view line, std::int64_t id, std::size_t num_values,
                                     std::span<const std::string> variables = {});

// Python's json module writes the words NaN, Infinity and -Infinity, which are not JSON; this puts them in quotes.
// Words inside strings are left alone.
std::string quote_python_words(std::string_view line);

// The program works, but reports that it cannot compute this value: no reason to restart it.
struct ProgramComplaint {
  std::string text;
};

}  // namespace treesample
