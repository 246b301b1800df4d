// The options as other parts see them: their defaults, their groups and their list, from the rows.
#include <fmt/format.h>

#include "infer/option_table.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/option_groups.hpp"

namespace treesample {

InferRequest default_request() {
  InferRequest request;
  for (const OptionRow& known : option_rows()) {
    if (!known.initial.empty()) known.set(request, known, known.initial);
  }
  return request;
}

const char* option_group(std::string_view name) {
  for (const OptionRow& known : option_rows()) {
    if (name == known.name) return known.group;
  }
  return "Other options";
}

const std::vector<OptionInfo>& infer_options() {
  static const std::vector<OptionInfo> options = [] {
    std::vector<OptionInfo> list;
    const InferRequest defaults = default_request();
    for (const OptionRow& known : option_rows()) {
      list.push_back({known.name, known.help, known.meta, known.text(defaults), known.is_common, known.is_repeated,
                      known.old_name});
    }
    return list;
  }();
  return options;
}

const OptionInfo& infer_option(std::string_view name) {
  for (const OptionInfo& known : infer_options()) {
    if (name == known.name) return known;
  }
  throw OptionError(std::string(name), "is no option of infer");
}

namespace {

const OptionRow* row_by_old_name(std::string_view name) {
  for (const OptionRow& known : option_rows()) {
    if (!name.empty() && name == known.old_name) return &known;
  }
  return nullptr;
}

}  // namespace

void set_option(InferRequest& request, std::string_view name, std::string_view text) {
  if (name == "method" && text == "auto") {
    request.options.method.reset();
    return;
  }
  if (const OptionRow* const renamed = row_by_old_name(name)) {
    renamed->set(request, *renamed, text);
    request.options.old_words.push_back(fmt::format("--{} is called --{} now", name, renamed->name));
    return;
  }
  if (name == "method" && text == "treesample") {
    request.options.method = Method::kSearch;
    request.options.old_words.emplace_back(
        "--method treesample is called search now, and tree where it is the paper's tree search");
    return;
  }
  const OptionRow& known = option_row(name);
  known.set(request, known, text);
}

std::string option_text(const InferRequest& request, std::string_view name) { return option_row(name).text(request); }

}  // namespace treesample
