#include "remote/process_identity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace treesample {
namespace {

// Makes the text one word of printable characters; it may come from another machine.
std::string one_word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c >= 127; }, '?');
  return text.empty() ? "?" : text.substr(0, 80);
}

std::string own_host() {
  std::array<char, 256> name{};
  return one_word(gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "");
}

// Field 22 of /proc/PID/stat; the name of the program before it may contain anything, even parentheses.
std::string start_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream words(text.substr(name_end + 1));
  constexpr int kStartField = 22;
  std::string word;
  for (int field = 3; field <= kStartField; ++field) words >> word;
  return word;
}

// Identifies the boot of the system and the namespace of process numbers.
std::string own_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::array<char, 64> space{};
  if (!(file >> boot) || readlink("/proc/self/ns/pid", space.data(), space.size() - 1) <= 0) return "";
  return one_word(boot + space.data());
}

}  // namespace

ProcessIdentity ProcessIdentity::own() {
  return {.host = own_host(), .pid = getpid(), .start = start_of(getpid()), .machine = own_machine()};
}

std::optional<ProcessIdentity> ProcessIdentity::parse(const std::string& text) {
  ProcessIdentity identity;
  std::istringstream words(text.substr(0, 400));
  if (!(words >> identity.host >> identity.pid) || identity.pid <= 0) return std::nullopt;
  words >> identity.start >> identity.machine;
  identity.host = one_word(identity.host);
  return identity;
}

std::string ProcessIdentity::text() const { return fmt::format("{} {} {} {}", host, pid, start, machine); }

std::string ProcessIdentity::name() const { return fmt::format("{}:{}", host, pid); }

bool ProcessIdentity::is_surely_dead() const {
  if (machine.empty() || start.empty() || machine != own_machine() || start_of(getpid()).empty()) return false;
  return start_of(pid) != start;
}

}  // namespace treesample
