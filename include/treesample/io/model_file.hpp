// One entry point for every model format, chosen by the extension of the file name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Reads .uai, .bif, .xmlbif (or .xml), .xdsl, .net, .dsc, .fg, .cnf and .json, in upper or lower case. JSON models must
// consist of tables and clauses; models with programs are read by src/oracle. Throws kArgument naming the allowed
// extensions for any other, and whatever the reader of the format throws.
FactorGraph read_model(const std::filesystem::path& path);
// The same for a text; `source_name` is used in messages.
FactorGraph parse_model(std::string_view text, const std::string& extension, std::string_view source_name);

struct ModelFile {
  FactorGraph graph;
  bool is_network = false;                 // the file claims to be a Bayesian network: .bif, .xmlbif, BAYES in .uai
  std::vector<std::string> warnings = {};  // for such a network: rows that do not add up to 1, cycles
};
ModelFile read_model_file(const std::filesystem::path& path);
ModelFile parse_model_file(std::string_view text, const std::string& extension, std::string_view source_name);
// True for the extension of one of these formats, such as ".uai", in upper or lower case.
bool is_model_extension(std::string_view extension);
// Throws kArgument naming the allowed extensions and `also_allowed`, such as ", .circuit". Throws kIo for a folder.
[[noreturn]] void refuse_extension(std::string_view source_name, std::string_view also_allowed = "");
// The extension of the format that a path names, in lower case: ".uai". Throws as read_model does.
std::string model_format(const std::filesystem::path& path);
// The extension of the format that a text without a name seems to have.
std::string extension_of_text(std::string_view text);

// All files of a folder with an extension of a model format, sorted by name. Throws kArgument, naming `asked_by`, if
// there are none.
std::vector<std::filesystem::path> model_files(const std::filesystem::path& folder,
                                               std::string_view asked_by = "model_files");

// The model as a text in the format given by the extension of the path. A UAI file has no names. Throws kArgument for
// models that the format cannot express: with functions; in BIF and XMLBIF, also models that are not Bayesian networks,
// and some names.
std::string format_model(const FactorGraph& graph, const std::filesystem::path& path);
void write_model(const FactorGraph& graph, const std::filesystem::path& path);

}  // namespace treesample
