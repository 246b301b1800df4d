#include "oracle/fingerprint.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <set>

#include "treesample/error.hpp"
#include "treesample/oracle/program_files.hpp"

namespace treesample {
namespace {

namespace fs = std::filesystem;

void add_scope(Fingerprint& fingerprint, const std::vector<int>& scope) {
  fingerprint.add(std::int64_t(scope.size()));
  for (const int v : scope) fingerprint.add(std::int64_t{v});
}

void add_table(Fingerprint& fingerprint, const std::vector<int>& scope, const std::vector<double>& log_values) {
  add_scope(fingerprint, scope);
  for (const double value : log_values) fingerprint.add(value);
}

void add_variable(Fingerprint& fingerprint, const Variable& variable) {
  fingerprint.add(variable.name).add(std::int64_t{variable.num_states});
  for (const std::string& name : variable.state_names) fingerprint.add(name);
}

void add_clause(Fingerprint& tables, const Factor& clause) {
  tables.add("clause");
  add_scope(tables, clause.scope());
  for (const ClauseLiteral& literal : clause.literals()) {
    tables.add(std::int64_t{literal.state}).add(std::int64_t{literal.is_state ? 1 : 0});
  }
}

}  // namespace

std::vector<std::string> program_files(const ProgramDescription& program, const fs::path& folder) {
  std::set<std::string> files(program.files.begin(), program.files.end());
  for (std::size_t i = 0; i < program.command.size(); ++i) {
    const std::string& word = program.command[i];
    if (i == 0 && word.find('/') == std::string::npos) continue;
    std::error_code ignored;
    if (fs::is_regular_file(folder / word, ignored)) files.insert(word);
  }
  return {files.begin(), files.end()};
}

void Fingerprint::mix(std::string_view bytes) {
  for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
}

Fingerprint& Fingerprint::add(std::string_view bytes) {
  add(static_cast<std::int64_t>(bytes.size()));
  mix(bytes);
  return *this;
}

Fingerprint& Fingerprint::add(std::int64_t number) {
  char bytes[sizeof number];
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xff);
    number >>= 8;
  }
  mix({bytes, sizeof bytes});
  return *this;
}

Fingerprint& Fingerprint::add(double number) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return add(bits);
}

Fingerprint& Fingerprint::add_file(const fs::path& path) {
  // A device or a pipe may never end, and opening a pipe may block for ever.
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(ErrorCode::kIo, fmt::format("{}: cannot be read: allowed are regular files", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  char buffer[1 << 16];
  std::int64_t length = 0;
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    mix({buffer, static_cast<std::size_t>(file.gcount())});
    length += file.gcount();
  }
  if (!file.eof()) throw Error(ErrorCode::kIo, fmt::format("{}: cannot be read", path.string()));
  return add(length);
}

std::string Fingerprint::hex() const { return fmt::format("{:016x}", hash_); }

FingerprintParts fingerprint_parts(const JsonModel& model) {
  Fingerprint variables, tables, factors;
  for (const Variable& variable : model.variables) add_variable(variables, variable);
  for (const FactorDescription& factor : model.factors) {
    if (factor.is_table()) {
      const Factor table = factor.table(model.variables);
      if (table.is_clause()) {
        add_clause(tables, table);
      } else {
        add_table(tables, factor.scope, factor.log_values);
      }
    } else {
      factors.add(factor.name).add(model.programs[factor.program].name);
      add_scope(factors, factor.scope);
    }
  }
  FingerprintParts parts = {
      {"the variables", variables.hex()}, {kTablesPart, tables.hex()}, {"the program factors", factors.hex()}};
  for (const ProgramDescription& program : model.programs) {
    Fingerprint command;
    for (const std::string& word : program.command) command.add(word);
    parts.push_back({fmt::format("the command of program '{}'", program.name), command.hex()});
    for (const std::string& file : program_files(program, model.folder)) {
      parts.push_back({fmt::format("file '{}' of program '{}'", file, program.name),
                       Fingerprint().add_file(model.folder / file).hex()});
    }
  }
  return parts;
}

FingerprintParts fingerprint_parts(const FactorGraph& graph, const std::string& version) {
  Fingerprint variables, tables, functions;
  for (int v = 0; v < graph.num_variables(); ++v) add_variable(variables, graph.variable(v));
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    if (factor.is_clause()) {
      add_clause(tables, factor);
    } else if (factor.is_table()) {
      add_table(tables, factor.scope(), factor.log_values());
    } else {
      functions.add(std::int64_t{m});
      add_scope(functions, factor.scope());
    }
  }
  return {{"the variables", variables.hex()},
          {kTablesPart, tables.hex()},
          {"the function factors", functions.hex()},
          {"the version of the functions", Fingerprint().add(version).hex()}};
}

std::string overall_fingerprint(const FingerprintParts& parts) {
  Fingerprint all;
  for (const auto& [name, fingerprint] : parts) all.add(name).add(fingerprint);
  return all.hex();
}

}  // namespace treesample
