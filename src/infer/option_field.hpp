// What a row of the options' table needs of a field: how it is read from text, written, checked and copied.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "infer/option_table.hpp"
#include "infer/words.hpp"
#include "treesample/error.hpp"
#include "treesample/model/names.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Value = T;
};

[[noreturn]] inline void refuse_option(const OptionRow& row, std::string_view text, const std::string& allowed,
                                       const std::string& hint = "") {
  constexpr std::size_t kShownBytes = 100;
  throw OptionError(row.name, fmt::format("is '{}', allowed are {}{}", shortened(text, kShownBytes), allowed, hint));
}

inline std::string range_text(const OptionRow& row, bool is_whole) {
  if (is_whole) {
    return fmt::format("whole numbers from {} to {}", static_cast<std::int64_t>(row.low),
                       row.high >= 9e18 ? INT64_MAX : static_cast<std::int64_t>(row.high));
  }
  if (row.high == HUGE_VAL) return fmt::format("numbers from {} up", row.low);
  return fmt::format("numbers from {} to {}", row.low, row.high);
}

template <typename Enum>
std::vector<std::string> word_list() {
  std::vector<std::string> words;
  for (const Word<Enum>& known : words_of(Enum{})) words.emplace_back(known.word);
  return words;
}
template <typename Enum>
std::string all_words() {
  return fmt::format("{}", fmt::join(word_list<Enum>(), "|"));
}

using NameList = std::vector<std::string>;
using NameLists = std::vector<NameList>;

inline NameList parse_names(const OptionRow& row, std::string_view text) {
  try {
    return split_names(text);
  } catch (const Error& error) {
    throw OptionError(row.name, error.what());
  }
}
inline void add_names(NameLists& lists, const OptionRow& row, std::string_view text) {
  lists.push_back(parse_names(row, text));
}
inline void add_names(NameList& list, const OptionRow& row, std::string_view text) { list = parse_names(row, text); }

inline std::string names_text(const NameList& names) { return joined_names(names); }

inline std::string names_text(const NameLists& lists) {
  std::string text;
  for (const std::vector<std::string>& names : lists) text += (text.empty() ? "" : "; ") + joined_names(names);
  return text;
}

// One field of one part of a request. A field that is not std::optional is open while it has its initial value.
template <auto kPart, auto kMember>
struct Field {
  using Stored = std::remove_cvref_t<decltype((std::declval<InferRequest&>().*kPart).*kMember)>;
  static constexpr bool kIsOptional = IsOptional<Stored>::value;
  static constexpr bool kIsSize = std::is_same_v<decltype(kMember), std::size_t Limits::*>;
  using Value = typename std::conditional_t<kIsOptional, IsOptional<Stored>, std::type_identity<Stored>>;

  static Stored& at(InferRequest& request) { return (request.*kPart).*kMember; }
  static const Stored& at(const InferRequest& request) { return (request.*kPart).*kMember; }
  static auto value(const InferRequest& request) {
    if constexpr (kIsOptional) {
      return at(request);
    } else {
      static const Stored initial = at(InferRequest{});
      return at(request) == initial ? std::optional<Stored>() : std::optional<Stored>(at(request));
    }
  }
  using Type = typename decltype(value(std::declval<const InferRequest&>()))::value_type;
  static constexpr bool kIsNames = std::is_same_v<Type, NameLists> || std::is_same_v<Type, NameList>;

  static void set(InferRequest& request, const OptionRow& row, std::string_view text) {
    if constexpr (std::is_enum_v<Type> || std::is_same_v<Type, bool>) {
      for (const Word<Type>& known : words_of(Type{})) {
        if (text != known.word) continue;
        at(request) = known.value;
        return;
      }
      refuse_option(row, text, (std::is_same_v<Type, Method> ? "auto|" : "") + all_words<Type>(),
                    did_you_mean(text, word_list<Type>()));
    } else if constexpr (std::is_same_v<Type, LeafChoice>) {
      at(request) = parse_leaf_choice(text);
      if (!at(request)) refuse_option(row, text, row.meta);
    } else if constexpr (std::is_same_v<Type, std::string>) {
      at(request) = std::string(text);
    } else if constexpr (kIsNames) {
      add_names(at(request), row, text);
    } else if constexpr (kIsSize) {
      const std::optional<std::uint64_t> bytes = parse_size(text);
      if (!bytes) refuse_option(row, text, "a number of bytes with an optional K, M, G or T, such as 512M");
      at(request) = *bytes;
    } else if constexpr (std::is_integral_v<Type>) {
      const std::optional<std::int64_t> number = parse_integer(text);
      if (!number || static_cast<double>(*number) < row.low || static_cast<double>(*number) > row.high)
        refuse_option(row, text, range_text(row, true));
      at(request) = static_cast<Type>(*number);
    } else {
      const std::optional<double> number = parse_real(text);
      if (!number || *number < row.low || *number > row.high) refuse_option(row, text, range_text(row, false));
      at(request) = *number;
    }
  }
  static bool is_given(const InferRequest& request) { return value(request).has_value(); }
  static std::string text(const InferRequest& request) {
    if (kIsOptional && !is_given(request)) return "";
    const Type stored = *std::optional<Type>(at(request));
    if constexpr (std::is_enum_v<Type> || std::is_same_v<Type, bool>) {
      return word_for(stored);
    } else if constexpr (std::is_same_v<Type, LeafChoice>) {
      return to_string(stored);
    } else if constexpr (kIsNames) {
      return names_text(stored);
    } else {
      return fmt::format("{}", stored);
    }
  }
  static std::optional<double> number(const InferRequest& request) {
    if constexpr (std::is_arithmetic_v<Type> && !std::is_same_v<Type, bool>) {
      const std::optional<Type> stored = value(request);
      return stored ? std::optional<double>(static_cast<double>(*stored)) : std::nullopt;
    } else {
      return {};
    }
  }
  static void copy(const InferRequest& from, InferRequest& to) { at(to) = at(from); }
  static std::string meta() {
    if constexpr (std::is_enum_v<Type> || std::is_same_v<Type, bool>) return all_words<Type>();
    if constexpr (kIsSize) return "SIZE";
    if constexpr (kIsNames) return "NAMES";
    if constexpr (std::is_same_v<Type, std::string>) return "TEXT";
    return std::is_integral_v<Type> ? "N" : "X";
  }
};

inline constexpr const char* kAsk = "What to ask";  // the title of questions

struct Extra {
  std::string initial = {};  // the default; empty: the field's own
  double low = 0.0, high = 0.0;
  bool is_common = false;
  bool (*matters)(const InferRequest&, const FactorGraph&) = nullptr;
  const char* why_not = "";
  bool is_repeated = false;
  std::string meta = {};  // empty: what the field's type says
  unsigned not_with = 0;
  void (*check)(const Model&, const Question&) = nullptr;
  void (*answer)(Answer&, const Model&, const InferRequest&, const Run&) = nullptr;
  const char* old_name = "";
};

template <auto kPart, auto kMember>
OptionRow row(const char* name, const char* group, Ways ways, const char* help, Extra extra = {}) {
  using F = Field<kPart, kMember>;
  std::string meta = extra.meta.empty() ? F::meta() : std::move(extra.meta);
  return {name,
          group,
          ways,
          help,
          F::set,
          F::is_given,
          F::text,
          F::number,
          F::copy,
          std::move(meta),
          extra.low,
          extra.high,
          extra.is_common,
          extra.matters,
          extra.why_not,
          extra.is_repeated,
          std::move(extra.initial),
          extra.not_with,
          extra.check,
          extra.answer,
          extra.old_name};
}
template <auto kMember>
OptionRow question(const char* name, const char* help, Extra extra = {}) {
  return row<&InferRequest::question, kMember>(name, kAsk, kEveryWay, help, std::move(extra));
}
template <auto kMember>
OptionRow option(const char* name, const char* group, Ways ways, const char* help, Extra extra = {}) {
  return row<&InferRequest::options, kMember>(name, group, ways, help, std::move(extra));
}
template <auto kMember>
OptionRow limit(const char* name, const char* group, Ways ways, const char* help, Extra extra = {}) {
  return row<&InferRequest::limits, kMember>(name, group, ways, help, std::move(extra));
}

}  // namespace treesample
