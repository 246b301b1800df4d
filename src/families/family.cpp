#include "treesample/families/family.hpp"

#include <array>
#include <utility>

#include "families/option_fields.hpp"
#include "treesample/families/chain.hpp"
#include "treesample/families/factor_graphs_1.hpp"
#include "treesample/families/factor_graphs_2.hpp"
#include "treesample/families/ising.hpp"
#include "treesample/families/permuted_chain.hpp"

namespace treesample {
namespace {

struct Family {
  std::string_view name;
  std::vector<FamilyField> (*fields)(Reading);
  FamilyInstance (*make)(std::string_view name, const FamilyOptions&);
};

template <auto kPreset, auto kFields, auto kMake>
constexpr Family family(std::string_view name) {
  return {name, [](Reading reading) { return list_fields(kPreset(reading), kFields()); },
          [](std::string_view own_name, const FamilyOptions& options) {
            auto own = kPreset(options.reading);
            for (const auto& [field, value] : options.values) set_field(own_name, own, kFields(), field, value);
            return kMake(own, options.seed, options.instance);
          }};
}

constexpr std::array kFamilies = {
    family<chain_options, chain_fields, make_chain>("chain"),
    family<permuted_chain_options, permuted_chain_fields, make_permuted_chain>("permuted-chain"),
    family<factor_graphs_1_options, factor_graphs_1_fields, make_factor_graphs_1>("factor-graphs-1"),
    family<factor_graphs_2_options, factor_graphs_2_fields, make_factor_graphs_2>("factor-graphs-2"),
    family<ising_options, ising_fields, make_ising>("ising"),
};

const Family& find_family(std::string_view function, std::string_view name) {
  std::string known;
  for (const Family& candidate : kFamilies) {
    if (candidate.name == name) return candidate;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
  }
  throw Error(ErrorCode::kArgument, fmt::format("{}: family is '{}', allowed are {}", function, name, known));
}

}  // namespace

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family& known : kFamilies) names.emplace_back(known.name);
  return names;
}

std::vector<FamilyField> family_fields(std::string_view name, Reading reading) {
  return find_family("family_fields", name).fields(reading);
}

FamilyInstance make_family(std::string_view name, const FamilyOptions& options) {
  return find_family("make_family", name).make(name, options);
}

Random family_stream(std::string_view family, std::uint64_t seed, std::uint64_t instance, std::string_view part) {
  return Random(seed, fmt::format("{}/{}/{}", family, instance, part));
}

void check_entries(std::string_view function, double entries, std::string_view advice) {
  if (entries <= static_cast<double>(kMaxFamilyEntries)) return;
  throw Error(ErrorCode::kResource, fmt::format("{}: the factors need {:.0f} table entries, allowed are {}; {}",
                                                function, entries, kMaxFamilyEntries, advice));
}

FamilyInstance empty_instance(int count, int k) {
  FamilyInstance instance;
  for (int v = 0; v < count; ++v) instance.graph.add_variable(k);
  return instance;
}

void add_factor(FamilyInstance& instance, const char* kind, std::vector<int> scope, std::vector<double> log_values) {
  instance.graph.add_table(std::move(scope), std::move(log_values));
  instance.factor_kinds.emplace_back(kind);
}

}  // namespace treesample
