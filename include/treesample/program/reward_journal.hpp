// A file that keeps the log rewards that a program's runs have paid for: a line of JSON each, which people can read.
//
//   {"treesample": "rewards 1", "program": "Grid"}
//   {"key": "(3, 4, 'done')", "log_reward": -1.2}
//
// What was written survives the death of the process. A last line that was cut off by it is dropped; any other line
// that is not as it should be is an error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

#include "treesample/program/infer_program.hpp"

namespace treesample {

class RewardJournal final : public RewardMemory {
 public:
  // Opens the file or begins it. Throws Error (kIo) if it cannot be read or written or is in use by another run,
  // (kParse) if it is no such file, and (kArgument) if it belongs to a program of another name.
  RewardJournal(const std::filesystem::path& path, const std::string& program);
  ~RewardJournal() override;
  RewardJournal(const RewardJournal&) = delete;
  RewardJournal& operator=(const RewardJournal&) = delete;

  [[nodiscard]] std::optional<double> find(const std::string& key) const override;
  void add(const std::string& key, double log_reward) override;
  // What was added is durable on return.
  void flush() override;
  [[nodiscard]] const std::unordered_map<std::string, double>& all() const { return values_; }

 private:
  void read(const std::string& program);
  void read_line(const std::string& line, std::size_t number, const std::string& program);
  void write(const std::string& line);
  [[noreturn]] void fail(const std::string& what, ErrorCode code) const;

  std::string name_;
  int file_ = -1;
  std::unordered_map<std::string, double> values_;
};

}  // namespace treesample
