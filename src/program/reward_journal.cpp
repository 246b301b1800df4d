#include "treesample/program/reward_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "io/json_fields.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr const char* kFormat = "rewards 1";

}  // namespace

RewardJournal::RewardJournal(const std::filesystem::path& path, const std::string& program) : name_(path.string()) {
  file_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail(std::strerror(errno), ErrorCode::kIo);
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) fail("is in use by another run", ErrorCode::kIo);
    read(program);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

RewardJournal::~RewardJournal() { ::close(file_); }

void RewardJournal::fail(const std::string& what, ErrorCode code) const {
  throw Error(code, fmt::format("{}: {}", name_, what));
}

void RewardJournal::read(const std::string& program) {
  const std::string text = read_file(name_);
  std::size_t begin = 0, number = 1;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    read_line(text.substr(begin, end - begin), number++, program);
  }
  // A run was killed while it wrote the last line. A file that begins with half a line may be somebody else's.
  if (begin < text.size() && number == 1) fail("is no journal of rewards", ErrorCode::kParse);
  if (begin < text.size() && ::ftruncate(file_, static_cast<off_t>(begin)) != 0)
    fail(std::strerror(errno), ErrorCode::kIo);
  if (number > 1) return;
  write(json_text(nlohmann::ordered_json{{"treesample", kFormat}, {"program", program}}));
  flush();
}

void RewardJournal::read_line(const std::string& line, std::size_t number, const std::string& program) {
  const auto bad = [&]() {
    fail(fmt::format("line {} is {}, which no run has written", number, shortened(line, 80)), ErrorCode::kParse);
  };
  nlohmann::json json;
  try {
    json = parse_json(line);
  } catch (const JsonProblem&) {
    if (number == 1) fail("is no journal of rewards", ErrorCode::kParse);
    bad();
  }
  if (number == 1) {
    if (!json.is_object() || json.value("treesample", nlohmann::json()) != kFormat)
      fail("is no journal of rewards", ErrorCode::kParse);
    const nlohmann::json found = json.value("program", nlohmann::json());
    if (found == program) return;
    fail(fmt::format("is the journal of the program {}, not of {}", json_text(found), program), ErrorCode::kArgument);
  }
  if (!json.is_object() || !json.contains("key") || !json["key"].is_string() || !json.contains("log_reward")) bad();
  const nlohmann::json& value = json["log_reward"];
  if (!value.is_number() && value != "-inf") bad();
  values_[json["key"].get<std::string>()] = value.is_number() ? value.get<double>() : kNegInf;
}

void RewardJournal::write(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::strerror(errno), ErrorCode::kWrite);
    written += static_cast<std::size_t>(count);
  }
}

std::optional<double> RewardJournal::find(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return {};
  return found->second;
}

void RewardJournal::add(const std::string& key, double log_reward) {
  nlohmann::ordered_json line{{"key", key}, {"log_reward", log_reward}};
  if (log_reward == kNegInf) line["log_reward"] = "-inf";
  write(json_text(line));
  values_[key] = log_reward;
}

void RewardJournal::flush() {
  if (::fdatasync(file_) != 0 && errno != EINVAL) fail(std::strerror(errno), ErrorCode::kWrite);
}

}  // namespace treesample
