// Fingerprints of the parts of a model that recorded values depend on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/io/json_model.hpp"
#include "treesample/oracle/journal.hpp"

namespace treesample {

// 64-bit FNV-1a over fields, each with its length, so that "ab","c" differs from "a","bc". Each step maps hashes
// one-to-one, so texts that differ in a single byte never have the same hash.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view bytes);
  Fingerprint& add(std::int64_t number);
  Fingerprint& add(double number);
  // Adds the contents of a file; throws kIo if it cannot be read.
  Fingerprint& add_file(const std::filesystem::path& path);
  [[nodiscard]] std::string hex() const;
  [[nodiscard]] std::int64_t number() const { return static_cast<std::int64_t>(hash_); }

 private:
  void mix(std::string_view bytes);
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

using FingerprintParts = std::vector<JournalSummary::Part>;

// The only part on which recorded values do not depend.
inline constexpr const char* kTablesPart = "the table factors";

// For a model with programs: variables, tables, program factors, and for each program its command and the files that it
// names. Limits such as timeouts are left out, because they change no value.
FingerprintParts fingerprint_parts(const JsonModel& model);
// For a C++ model.
FingerprintParts fingerprint_parts(const FactorGraph& graph, const std::string& version);

std::string overall_fingerprint(const FingerprintParts& parts);

}  // namespace treesample
