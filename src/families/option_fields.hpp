// A table of fields per Options struct: name, place, range, help. It is the only list of a family's options:
// validation, setting by name and the public listing are all made from it.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

// Larger potentials would only lose digits; the limit keeps their sums finite.
inline constexpr double kMaxPotential = 1e6;

template <typename Options>
struct OptionField {
  const char* name;
  std::variant<int Options::*, bool Options::*, double Options::*, std::optional<double> Options::*> member;
  double low;
  double high;
  const char* help;
};

template <typename Options>
std::optional<double> field_value(const Options& options, const OptionField<Options>& field) {
  return std::visit([&](auto member) { return std::optional<double>(options.*member); }, field.member);
}

// Throws kArgument unless every field that has a value is within its range.
template <typename Options>
void check_fields(std::string_view function, const Options& options, std::span<const OptionField<Options>> fields) {
  for (const OptionField<Options>& field : fields) {
    const std::optional<double> value = field_value(options, field);
    // The condition is written so that NaN fails.
    check_argument(
        !value || (*value >= field.low && *value <= field.high), function,
        fmt::format("{} is {}, allowed are {} to {}", field.name, value.value_or(0.0), field.low, field.high));
  }
}

template <typename Options>
void set_field(std::string_view family, Options& options, std::span<const OptionField<Options>> fields,
               std::string_view name, double value) {
  for (const OptionField<Options>& field : fields) {
    if (field.name != name) continue;
    const bool is_whole = !std::holds_alternative<double Options::*>(field.member) &&
                          !std::holds_alternative<std::optional<double> Options::*>(field.member);
    // Checked before the conversion, which is undefined outside the range of the type.
    check_argument(value >= field.low && value <= field.high && (!is_whole || value == std::floor(value)), family,
                   fmt::format("{} is {}, allowed are {} {} to {}", name, value, is_whole ? "whole numbers" : "values",
                               field.low, field.high));
    std::visit(
        [&](auto member) {
          using Type = std::remove_reference_t<decltype(options.*member)>;
          options.*member = static_cast<Type>(value);
        },
        field.member);
    return;
  }
  std::string known;
  for (const OptionField<Options>& field : fields) known += fmt::format("{}{}", known.empty() ? "" : ", ", field.name);
  check_argument(false, family, fmt::format("there is no option {}, the family has {}", name, known));
}

template <typename Options>
std::vector<FamilyField> list_fields(const Options& options, std::span<const OptionField<Options>> fields) {
  std::vector<FamilyField> list;
  for (const OptionField<Options>& field : fields) {
    list.push_back({field.name, field_value(options, field), field.low, field.high, field.help});
  }
  return list;
}

struct ChainOptions;
struct PermutedChainOptions;
struct FactorGraphs1Options;
struct FactorGraphs2Options;
struct IsingOptions;
std::span<const OptionField<ChainOptions>> chain_fields();
std::span<const OptionField<PermutedChainOptions>> permuted_chain_fields();
std::span<const OptionField<FactorGraphs1Options>> factor_graphs_1_fields();
std::span<const OptionField<FactorGraphs2Options>> factor_graphs_2_fields();
std::span<const OptionField<IsingOptions>> ising_fields();

// The stream of one part of one instance; see family.hpp.
Random family_stream(std::string_view family, std::uint64_t seed, std::uint64_t instance, std::string_view part);

// Throws kResource if `entries` is above kMaxFamilyEntries. It is a double, so that it cannot overflow.
void check_entries(std::string_view function, double entries, std::string_view advice);

// `count` variables with k states each.
FamilyInstance empty_instance(int count, int k);
void add_factor(FamilyInstance& instance, const char* kind, std::vector<int> scope, std::vector<double> log_values);

}  // namespace treesample
