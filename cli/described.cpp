#include "described.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace treesample::cli {
namespace {

constexpr const char* kPaths[] = {"FILE", "FOLDER", "DIR"};

// The literal words of a placeholder: of "uniform|elbo|net:FILE" the first two. Capitals stand for text that the user
// has to fill in.
std::vector<std::string> words_in(const std::string& meta) {
  std::vector<std::string> words;
  if (meta.find('|') == std::string::npos) return words;
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  for (std::size_t at = 0; at <= meta.size();) {
    const std::size_t end = std::min(meta.find('|', at), meta.size());
    std::string word = meta.substr(at, end - at);
    if (std::none_of(word.begin(), word.end(), is_capital)) words.push_back(std::move(word));
    at = end + 1;
  }
  return words;
}

// Records the declarations.
class DescribingLine final : public CommandLine {
 public:
  explicit DescribingLine(DescribedCommand& command) : command_(command) {}

  void section(const std::string& title, bool is_common) override {
    section_ = title;
    is_common_ = is_common;
  }
  void positional(const std::string& name, std::string&, const std::string& help) override {
    add(name, "", "", help).is_required = true;
  }
  void optional_positional(const std::string& name, std::string&, const std::string& help) override {
    add(name, "", "", help);
  }
  void positionals(const std::string& name, std::vector<std::string>&, const std::string& help) override {
    add(name, "", "", help).is_required = true;
  }
  void flag(const std::string& name, bool&, const std::string& help) override { add(name, "", "", help); }
  void option(const std::string& name, std::int64_t& value, std::int64_t, std::int64_t,
              const std::string& help) override {
    add(name, "N", fmt::format("{}", value), help);
  }
  void option(const std::string& name, int& value, int, int, const std::string& help) override {
    add(name, "N", fmt::format("{}", value), help);
  }
  void option(const std::string& name, double& value, double, double, const std::string& help) override {
    add(name, "X", fmt::format("{}", value), help);
  }
  void option(const std::string& name, std::string& value, const std::string& meta, const std::string& help) override {
    add(name, meta, value, help);
  }
  void option(const std::string& name, std::vector<std::string>&, const std::string& meta,
              const std::string& help) override {
    add(name, meta, "", help);
  }
  void option(const std::string& name, const std::string& meta, const std::string& initial, const std::string& help,
              const std::function<void(const std::string&)>&) override {
    add(name, meta, initial, help);
  }
  void old_option(const std::string&, const std::function<void(const std::string&)>&) override {}
  [[nodiscard]] bool is_given(const std::string&) const override { return false; }
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& allowed,
              const std::string& help) override {
    const bool is_option = name.starts_with('-');
    DescribedOption& option = add(name, fmt::format("{}", fmt::join(allowed, "|")), is_option ? value : "", help);
    option.words = allowed;
    option.is_required = !is_option;
  }

 private:
  DescribedOption& add(const std::string& name, const std::string& meta, const std::string& initial,
                       const std::string& help) {
    command_.options.push_back({name, meta, initial, help, section_, is_common_});
    command_.options.back().words = words_in(meta);
    return command_.options.back();
  }

  DescribedCommand& command_;
  std::string section_ = "Options";
  bool is_common_ = true;
};

}  // namespace

bool DescribedOption::takes_file() const {
  if (is_positional()) {
    return name == "MODEL" || name == "FROM" || name == "TO" || name.find("FILE") != std::string::npos;
  }
  return std::any_of(std::begin(kPaths), std::end(kPaths),
                     [&](const char* word) { return meta.find(word) != std::string::npos; });
}

DescribedCommand described(Command& command) {
  DescribedCommand result{command.name(), command.summary(), command.examples(), {}};
  DescribingLine line(result);
  command.declare(line);
  return result;
}

}  // namespace treesample::cli
