#include "treesample/program/environments.hpp"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "program/environments/environment_values.hpp"
#include "treesample/families/family.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/program/environments/dag_edges.hpp"
#include "treesample/program/environments/hypergrid.hpp"
#include "treesample/program/environments/permutations.hpp"
#include "treesample/program/environments/phylogeny.hpp"
#include "treesample/program/environments/sequence_tables.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr int kMostDimensions = 6;

template <class Environment>
std::unique_ptr<NumberedProgram> hashed(Environment environment) {
  return std::make_unique<HashedProgram<Environment>>(std::move(environment));
}

template <int D = 1>
std::unique_ptr<NumberedProgram> make_hypergrid(const EnvironmentValues& values) {
  if constexpr (D < kMostDimensions) {
    if (values.whole("dimensions", 1, kMostDimensions) != D) return make_hypergrid<D + 1>(values);
  }
  return hashed(
      Hypergrid<D>(values.whole("height", 2, 1 << 14), values.real("r0"), values.real("r1"), values.real("r2")));
}

std::unique_ptr<NumberedProgram> make_bits(const EnvironmentValues& values) {
  return hashed(bit_sequences({.bits = values.whole("bits", 8, 1 << 14),
                               .word = values.whole("word", 1, 8),
                               .num_modes = values.whole("modes", 1, 1 << 20),
                               .beta = values.real("beta")},
                              values.seed()));
}

std::unique_ptr<NumberedProgram> make_table(const EnvironmentValues& values) {
  return hashed(
      table_sequences(read_sequence_table(values.text("file"), values.text("alphabet"), values.real("exponent"))));
}

std::unique_ptr<NumberedProgram> make_dag(const EnvironmentValues& values) {
  NamedScores named = read_dag_scores(values.text("file"), values.text("score"));
  check_argument(
      std::ssize(named.names) <= DagEdges::kMostNodes, "dag",
      fmt::format("{} has {}, allowed are 1 to {}; dag_posterior and, in Python, dags.posterior take up to {}",
                  printable(values.text("file")), counted(std::ssize(named.names), "column"), DagEdges::kMostNodes,
                  DagLayers::kMostNodes));
  std::vector<std::string> labels;
  for (const std::string& name : named.names) labels.push_back(json_text(nlohmann::json(name)));
  return hashed(DagEdges(std::move(named.scores), std::move(labels)));
}

std::unique_ptr<NumberedProgram> make_permutations(const EnvironmentValues& values) {
  Permutations::Scores after = read_numbers(values.text("after"));
  Permutations::Scores at(after.size(), std::vector<double>(after.size(), 0.0));
  if (values.text("at") != "none") at = read_numbers(values.text("at"));
  return hashed(Permutations(std::move(at), std::move(after)));
}

std::unique_ptr<NumberedProgram> make_phylogeny(const EnvironmentValues& values) {
  return hashed(Phylogeny(read_sequences(values.text("file")), values.real("temperature")));
}

std::unique_ptr<NumberedProgram> make_configurations(const EnvironmentValues& values) {
  return hashed(configuration_sequences(read_model(values.text("file"))));
}

struct Environment {
  std::string name, summary;
  std::vector<EnvironmentField> fields;
  std::function<std::unique_ptr<NumberedProgram>(const EnvironmentValues&)> make;
};

const EnvironmentField kSeed{"seed", "0", "of everything random"};

// A family of random models has its own fields, and they check themselves.
Environment family_environment(const std::string& family) {
  Environment environment{
      .name = family, .summary = "configurations of a random model: " + family, .fields = {kSeed}, .make = {}};
  for (const FamilyField& field : family_fields(family)) {
    environment.fields.push_back({field.name, field.value ? fmt::format("{}", *field.value) : "derived", field.help});
  }
  environment.make = [family](const EnvironmentValues& values) {
    FamilyOptions options{.seed = values.seed()};
    for (const auto& [name, text] : values.given()) {
      if (name != "seed") options.values[name] = values.real(name);
    }
    return hashed(configuration_sequences(make_family(family, options).graph));
  };
  return environment;
}

std::vector<Environment> make_environments() {
  std::vector<Environment> all = {
      {"hypergrid",
       "places in a cube with modes near its corners",
       {{"dimensions", "4", "of the cube, 1 to 6"},
        {"height", "20", "places along each of them"},
        {"r0", "0.001", "reward everywhere"},
        {"r1", "0.5", "added far from the middle"},
        {"r2", "2", "added at the modes"}},
       [](const EnvironmentValues& values) { return make_hypergrid(values); }},
      {"bits",
       "bit sequences, with rewards by the distance to the nearest of some modes",
       {{"bits", "120", "length, a multiple of 8 and of the word"},
        {"word", "8", "bits that an action writes"},
        {"modes", "60", "drawn at random"},
        {"beta", "3", "how fast rewards fall"},
        kSeed},
       make_bits},
      {"binding",
       "words of DNA that a protein binds: a generated table like TFBind8",
       {{"exponent", "10", "of the strength"}, kSeed},
       [](const EnvironmentValues& v) { return hashed(table_sequences(binding_table(v.seed(), v.real("exponent")))); }},
      {"blocks",
       "molecules of five blocks: a generated table like QM9-small",
       {{"exponent", "5", "of the strength"}, kSeed},
       [](const EnvironmentValues& v) { return hashed(table_sequences(block_table(v.seed(), v.real("exponent")))); }},
      {"table",
       "sequences whose values stand in a file, such as TFBind8 itself",
       {{"file", "", "CSV with a header and rows SEQUENCE,VALUE"},
        {"alphabet", "ACGT", "the letters"},
        {"exponent", "1", "of the value over the largest one"}},
       make_table},
      {"dag",
       "acyclic graphs over the columns of a table, edge by edge",
       {{"file", "", "CSV with the names of up to 7 columns in its first line"},
        {"score", "bge", "bge for numbers, bdeu for labels"}},
       make_dag},
      {"permutations",
       "orders of items, by scores of neighbours and of places",
       {{"after", "", "CSV without a header: the score of item j after item i in row i"},
        {"at", "none", "the same: the score of item j at place i"}},
       make_permutations},
      {"phylogeny",
       "rooted trees of species, by parsimony",
       {{"file", "", "CSV with a header and rows NAME,SEQUENCE; species are named a, b, ... in trees"},
        {"temperature", "1", "mutations that divide a reward by e"}},
       make_phylogeny},
      {"model",
       "configurations of a model of tables",
       {{"file", "", "the model, such as a UAI file"}},
       make_configurations}};
  for (const std::string& family : family_names()) all.push_back(family_environment(family));
  return all;
}

const std::vector<Environment>& environments() {
  static const std::vector<Environment> all = make_environments();
  return all;
}

const Environment& find(std::string_view name) {
  for (const Environment& one : environments()) {
    if (one.name == name) return one;
  }
  throw Error(ErrorCode::kArgument,
              fmt::format("environment is '{}', allowed are {}", name, fmt::join(environment_names(), ", ")));
}

}  // namespace

std::vector<std::string> environment_names() {
  std::vector<std::string> names;
  for (const Environment& one : environments()) names.push_back(one.name);
  return names;
}

std::string environment_summary(std::string_view name) { return find(name).summary; }

std::vector<EnvironmentField> environment_fields(std::string_view name) { return find(name).fields; }

std::unique_ptr<NumberedProgram> make_environment(std::string_view name,
                                                  const std::map<std::string, std::string>& values) {
  const Environment& environment = find(name);
  return environment.make(EnvironmentValues(environment.name, environment.fields, values));
}

}  // namespace treesample
