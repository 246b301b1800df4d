// treesample generate: random models of the paper's families, and Ising grids, as files.
#include <fmt/format.h>

#include "command.hpp"
#include "model_input.hpp"
#include "treesample/error.hpp"
#include "treesample/families/family.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/io/uai.hpp"

namespace treesample::cli {
namespace {

class GenerateCommand final : public Command {
 public:
  std::string name() const override { return "generate"; }
  std::string summary() const override { return "Random models: the paper's four families and Ising grids"; }
  std::string examples() const override {
    return "  treesample generate chain --seed 7 --out chain.uai\n"
           "  treesample generate factor-graphs-2 --n 40 --reading best --out fg2.uai\n"
           "  treesample generate ising --n 12 --set coupling_normal=0.7 --out ising.uai\n"
           "  treesample generate chain --fields       lists what --set takes";
  }
  void declare(CommandLine& line) override {
    line.choice("FAMILY", family_, family_names(), "What to generate");
    line.option("--n", n_, 0, INT32_MAX, "Number of variables (rows of a grid); 0 is the paper's");
    line.option("--k", k_, 0, INT32_MAX, "Number of states; 0 is the paper's");
    line.option("--seed", seed_, 0, INT64_MAX, "Seed");
    line.option("--instance", instance_, 0, INT64_MAX, "Which of the seed's models");
    line.word("--reading", options_.reading, {{"letter", Reading::kLetter}, {"best", Reading::kBest}},
              "The paper's text to the letter, or with the constants that fit its results");
    line.option("--set", settings_, "NAME=VALUE", "Any other field of the family; may be repeated");
    line.flag("--fields", list_fields_, "List the family's fields and stop");
    line.option(
        "--out", out_, "FILE",
        "Where to write the model, in the format of the name (.uai, .json, ...); default is standard output, as UAI");
  }
  int run() override;

 private:
  std::string family_ = "chain";
  FamilyOptions options_;
  std::string out_;
  int n_ = 0, k_ = 0;
  std::int64_t seed_ = 0, instance_ = 0;
  std::vector<std::string> settings_;
  bool list_fields_ = false;
};

int GenerateCommand::run() {
  options_.seed = static_cast<std::uint64_t>(seed_);
  options_.instance = static_cast<std::uint64_t>(instance_);
  if (list_fields_) {
    for (const FamilyField& field : family_fields(family_, options_.reading)) {
      fmt::print("{:<20} {:>10}  {}\n", field.name, field.value ? fmt::format("{}", *field.value) : "derived",
                 field.help);
    }
    return 0;
  }
  if (n_ > 0) options_.values["n"] = n_;
  if (k_ > 0) options_.values["k"] = k_;
  add_fields(options_.values, settings_);
  const bool is_printed = out_.empty() || out_ == "-";
  if (!is_printed) check_writable(out_);
  const FactorGraph graph = make_family(family_, options_).graph;
  if (is_printed) {
    fmt::print("{}", format_uai(graph));
  } else if (model_format(out_) == ".uai") {
    write_uai(graph, out_);
  } else {
    write_model(graph, out_);
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace treesample::cli
