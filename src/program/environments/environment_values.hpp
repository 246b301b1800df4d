// The values of an environment's fields, and the files that they name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "treesample/program/environments.hpp"

namespace treesample {

// Throws Error (kArgument) naming the environment, the field and what is allowed.
class EnvironmentValues {
 public:
  EnvironmentValues(std::string environment, const std::vector<EnvironmentField>& fields,
                    std::map<std::string, std::string> given);

  // What was given, and presets for the rest.
  [[nodiscard]] const std::string& text(const std::string& field) const;
  [[nodiscard]] int whole(const std::string& field, int least, int most) const;
  [[nodiscard]] double real(const std::string& field) const;
  [[nodiscard]] std::uint64_t seed() const;
  [[nodiscard]] const std::map<std::string, std::string>& given() const { return given_; }

 private:
  [[noreturn]] void refuse(const std::string& field, const std::string& allowed) const;

  std::string environment_;
  std::map<std::string, std::string> given_, presets_;
};

// Rows of numbers, all as long as the first one.
std::vector<std::vector<double>> read_numbers(const std::string& file);
// The second column of a table with a header and two columns.
std::vector<std::string> read_sequences(const std::string& file);

}  // namespace treesample
