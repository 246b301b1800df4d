#include "treesample/nn/network_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "io/json_fields.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/random.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "treesample-network";
constexpr const char* kFormatVersion = "1";

[[noreturn]] void refuse(const std::string& source, const std::string& message) {
  constexpr std::size_t kShownMessage = 300;  // the message may quote the file
  throw Error(ErrorCode::kParse, fmt::format("{}: {}", source, shortened(message, kShownMessage)));
}

TensorFile make_file(const Parameters& parameters, const Metadata& own, const Metadata& extra) {
  TensorFile file = {.metadata = own, .tensors = parameters.to_tensors(parameters.values())};
  file.metadata.insert(
      {{"format", kFormat}, {"format_version", kFormatVersion}, {"library_version", TREESAMPLE_VERSION}});
  for (const auto& [key, value] : extra) {
    check_argument(file.metadata.emplace(key, value).second, "network_tensors",
                   fmt::format("the metadata key '{}' is taken", key));
  }
  return file;
}

// Reads the entries of the metadata; errors name the entry.
class MetadataReader {
 public:
  MetadataReader(const Metadata& metadata, const std::string& source) : metadata_(metadata), source_(source) {}

  [[nodiscard]] const std::string& text(const std::string& key) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) refuse(source_, fmt::format("the metadata has no '{}'", key));
    return found->second;
  }

  [[nodiscard]] bool has(const std::string& key) const { return metadata_.contains(key); }

  [[nodiscard]] int number(const std::string& key) const {
    const std::string& value = text(key);
    int result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size()) {
      refuse(source_, fmt::format("metadata '{}' is '{}', expected is an integer", key, value));
    }
    return result;
  }

  // The entries of a list, each read by `read(field)`.
  template <typename Read>
  [[nodiscard]] auto list(const std::string& key, const Read& read) const {
    const std::string source = fmt::format("{}: metadata '{}'", source_, key);
    const json parsed = parse_json_text(text(key), source);
    const JsonField field(parsed, source);
    std::vector<decltype(read(field))> entries;
    for (int i = 0; i < field.array_size(); ++i) entries.push_back(read(field.at(i)));
    return entries;
  }
  [[nodiscard]] std::vector<int> numbers(const std::string& key) const {
    return list(key, [](const JsonField& entry) { return entry.whole<int>(); });
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const {
    return list(key, [](const JsonField& entry) { return entry.text(); });
  }

  void expect(const std::string& key, const std::string& expected) const {
    if (text(key) != expected) {
      refuse(source_, fmt::format("metadata '{}' is '{}', expected is '{}'", key, text(key), expected));
    }
  }

 private:
  const Metadata& metadata_;
  const std::string& source_;
};

// Counts parameters before anything is allocated, so that a file cannot ask for a network larger than itself.
std::int64_t count_parameters(const MlpOptions& options) {
  std::int64_t count = 0;
  std::int64_t rows = std::int64_t{options.num_variables} * (options.num_states + 1);
  for (const int width : options.hidden) {
    count += (rows + 1) * width;
    rows = width;
  }
  return count + (rows + 1) * options.num_states;
}

std::int64_t count_parameters(const GnnOptions& options) {
  constexpr std::int64_t kTail = 3 * (kPanel + 1) * kPanel;
  const auto block = [&](int panels, std::int64_t further_rows) {
    return (panels * kPanel + further_rows + 1) * kPanel + kTail;
  };
  std::int64_t count = block(2, options.num_states) + (kPanel + 1) * std::int64_t{options.num_states};
  if (options.global_after > 0) count += kPanel;
  for (const std::string& kind : options.kinds) {
    const int encoding = kind == kTableKind ? kPanel : 0;
    count += 2 * block(3, options.num_states + encoding) + block(2, encoding);
  }
  return count;
}

template <typename Network, typename Options>
Network build(Options options, const TensorFile& file, const std::string& source) {
  std::int64_t found = 0;
  for (const NamedTensor& tensor : file.tensors) found += static_cast<std::int64_t>(tensor.values.size());
  try {
    options.validate();
  } catch (const Error& error) {
    refuse(source, error.what());
  }
  if (count_parameters(options) != found) {
    refuse(source, fmt::format("the tensors have {} entries, the metadata describes a network with {}", found,
                               count_parameters(options)));
  }
  Random unused(0);
  Network network(std::move(options), unused);
  network.parameters().assign(network.parameters().values(), file.tensors, source);
  return network;
}

}  // namespace

TensorFile network_tensors(const Mlp& network, const Metadata& extra) {
  const MlpOptions& options = network.options();
  return make_file(network.parameters(),
                   {{"architecture", "mlp"},
                    {"num_variables", std::to_string(options.num_variables)},
                    {"num_states", std::to_string(options.num_states)},
                    {"hidden", json_text(json(options.hidden))}},
                   extra);
}

TensorFile network_tensors(const Gnn& network, const Metadata& extra) {
  const GnnOptions& options = network.options();
  Metadata own = {{"architecture", "gnn"},
                  {"num_states", std::to_string(options.num_states)},
                  {"kinds", json_text(json(options.kinds))},
                  {"iterations", std::to_string(options.iterations)}};
  if (options.global_after > 0) own["global_after"] = std::to_string(options.global_after);
  return make_file(network.parameters(), own, extra);
}

NetworkFile parse_network(const TensorFile& file, const std::string& source) {
  const MetadataReader metadata(file.metadata, source);
  metadata.expect("format", kFormat);
  metadata.expect("format_version", kFormatVersion);
  const std::string& architecture = metadata.text("architecture");
  if (architecture == "mlp") {
    MlpOptions options = {.num_variables = metadata.number("num_variables"),
                          .num_states = metadata.number("num_states"),
                          .hidden = metadata.numbers("hidden")};
    return {.network = build<Mlp>(std::move(options), file, source), .metadata = file.metadata};
  }
  if (architecture == "gnn") {
    GnnOptions options = {.kinds = metadata.texts("kinds"),
                          .num_states = metadata.number("num_states"),
                          .iterations = metadata.number("iterations"),
                          .global_after = metadata.has("global_after") ? metadata.number("global_after") : 0};
    return {.network = build<Gnn>(std::move(options), file, source), .metadata = file.metadata};
  }
  refuse(source, fmt::format("metadata 'architecture' is '{}', known are 'mlp' and 'gnn'", architecture));
}

void save_network(const std::filesystem::path& path, const TensorFile& network) {
  write_file_atomically(path, write_safetensors(network));
}

NetworkFile load_network(const std::filesystem::path& path) {
  const std::string source = path.string();
  return parse_network(parse_safetensors(read_file(path), source), source);
}

}  // namespace treesample
