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

// The names of its states, or their number if they have no names.
nlohmann::json described_states(const Variable& variable);
// The first line that a program receives: the factors that it computes, with scopes and states.
std::string format_hello(const JsonModel& model, int program);
std::string format_request(std::int64_t id, const std::string& factor, std::span<const std::vector<int>> assignments);

// The readers throw Error (kParse) with the problem and the shortened line, and ProgramComplaint if the program answers
// "error".
void check_ready(std::string_view line);
// The answer to request `id`. NaN and infinities are returned unchanged; the caller refuses them. An entry {"error":
// "..."} is the failure of one assignment. {"log_value": X, "witness": [NAME, ...]} is a value with a witness; the
// names are among `variables`, those of the scope.
std::vector<Evaluation> parse_answer(std::string_view line, std::int64_t id, std::size_t num_values,
                                     std::span<const std::string> variables = {});

// Python's json module writes the words NaN, Infinity and -Infinity, which are not JSON. This function puts them in
// quotes, except inside strings.
std::string quote_python_words(std::string_view line);

// Thrown if the program works but reports that it cannot compute this value: no reason to restart it.
struct ProgramComplaint {
  std::string text;
};

}  // namespace treesample
