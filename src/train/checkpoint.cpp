#include "train/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/json_fields.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/nn/safetensors.hpp"

namespace treesample {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "treesample-checkpoint";
constexpr const char* kFormatVersion = "1";
constexpr std::int64_t kMostEpisodes = std::int64_t{1} << 30;  // limit of TrainOptions
constexpr std::int64_t kMostSteps = std::int64_t{1} << 60;     // so that counting on cannot overflow

void append_array(TensorFile& file, const std::string& prefix, const Parameters& parameters,
                  std::span<const float> array) {
  for (NamedTensor& tensor : parameters.to_tensors(array)) {
    tensor.name = prefix + tensor.name;
    file.tensors.push_back(std::move(tensor));
  }
}

// Takes the tensors whose names begin with the prefix out of the file, and removes the prefix from their names.
std::vector<NamedTensor> take_tensors(TensorFile& file, const std::string& prefix) {
  const auto first = std::stable_partition(file.tensors.begin(), file.tensors.end(),
                                           [&](const NamedTensor& tensor) { return !tensor.name.starts_with(prefix); });
  std::vector<NamedTensor> taken(std::make_move_iterator(first), std::make_move_iterator(file.tensors.end()));
  file.tensors.erase(first, file.tensors.end());
  for (NamedTensor& tensor : taken) tensor.name.erase(0, prefix.size());
  return taken;
}

// Indices and states are exact in float32; any other number becomes an index that Experience::validate refuses.
int to_index(float value) { return value >= 0.0F && value <= 0x1p24F ? static_cast<int>(value) : -1; }

NamedTensor matrix(std::string name, std::size_t rows, std::size_t columns) {
  NamedTensor tensor = {.name = std::move(name),
                        .shape = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)},
                        .values = {}};
  tensor.values.reserve(rows * columns);
  return tensor;
}

// Appends the rows of one experience that are still in the replay: `count` rows from `first` on.
void append_experience(TensorFile& file, int index, const Experience& experience, int first, int count) {
  NamedTensor samples =
      matrix(fmt::format("replay/{}/samples", index), experience.num_samples(), experience.num_variables());
  samples.values.assign(experience.samples.begin(), experience.samples.end());
  NamedTensor rows = matrix(fmt::format("replay/{}/rows", index), count, 2);
  NamedTensor targets = matrix(fmt::format("replay/{}/targets", index), count, experience.num_targets);
  for (int row = first; row < first + count; ++row) {
    rows.values.push_back(static_cast<float>(experience.row_samples[row]));
    rows.values.push_back(static_cast<float>(experience.row_levels[row]));
    const std::span<const float> target = experience.target(row);
    targets.values.insert(targets.values.end(), target.begin(), target.end());
  }
  for (NamedTensor* tensor : {&samples, &rows, &targets}) file.tensors.push_back(std::move(*tensor));
  if (experience.row_highs.empty()) return;
  NamedTensor highs = matrix(fmt::format("replay/{}/highs", index), count, experience.num_targets);
  for (int row = first; row < first + count; ++row) {
    highs.values.insert(highs.values.end(), experience.high(row).begin(), experience.high(row).end());
  }
  file.tensors.push_back(std::move(highs));
}

json append_replay(TensorFile& file, const Replay& replay) {
  const std::vector<ReplayEntry> entries = replay.entries();
  json problems = json::array();
  for (std::size_t begin = 0; begin < entries.size();) {
    const Experience& experience = *entries[begin].experience;
    std::size_t end = begin;
    while (end < entries.size() && entries[end].experience == entries[begin].experience) ++end;
    append_experience(file, static_cast<int>(problems.size()), experience, entries[begin].row,
                      static_cast<int>(end - begin));
    problems.push_back(experience.problem->id);
    begin = end;
  }
  return problems;
}

// Returns the result of `work`. An error in it means that the file is damaged.
template <typename Work>
auto reading(const std::string& source, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(ErrorCode::kParse, fmt::format("{}: {}", source, error.what()));
  }
}

std::shared_ptr<const Experience> experience_of(std::vector<NamedTensor> tensors,
                                                std::shared_ptr<const Problem> problem) {
  const bool has_highs = tensors.size() == 4 && tensors[3].name == "highs";
  check_argument(tensors.size() == (has_highs ? 4 : 3) && tensors[0].name == "samples" && tensors[1].name == "rows" &&
                     tensors[2].name == "targets" && tensors[2].shape.size() == 2 && tensors[1].values.size() % 2 == 0,
                 "replay", "an experience is not complete");
  auto experience = std::make_shared<Experience>();
  experience->problem = std::move(problem);
  experience->num_targets = static_cast<int>(tensors[2].shape[1]);
  for (const float state : tensors[0].values) experience->samples.push_back(to_index(state));
  for (std::size_t row = 0; row < tensors[1].values.size(); row += 2) {
    experience->row_samples.push_back(to_index(tensors[1].values[row]));
    experience->row_levels.push_back(to_index(tensors[1].values[row + 1]));
  }
  experience->row_targets = std::move(tensors[2].values);
  if (has_highs) experience->row_highs = std::move(tensors[3].values);
  experience->validate();
  return experience;
}

void restore_replay(TensorFile& file, const JsonField& problem_numbers, const TrainingProblems& problems,
                    const std::string& source, Replay& replay) {
  for (int i = 0; i < problem_numbers.array_size(); ++i) {
    const auto number = problem_numbers.at(i).whole<std::uint64_t>(0, kFirstTestProblem - 1);
    const std::string prefix = fmt::format("replay/{}/", i);
    replay.add(reading(fmt::format("{}: tensors {}...", source, prefix),
                       [&] { return experience_of(take_tensors(file, prefix), problems.training(number)); }));
  }
}

// Throws an Error that names the first option that differs.
void check_options(const std::string& source, const std::string& stored, const TrainOptions& options) {
  const json old_fields = parse_json_text(stored, source + ": the options");
  const json new_fields = parse_json_text(format_train_options(options), source + ": the options");
  for (const auto& [name, value] : new_fields.items()) {
    check_argument(old_fields.contains(name) && old_fields[name] == value, source,
                   fmt::format("the run was started with other options: '{}' is {} there and {} now", name,
                               old_fields.contains(name) ? shown(old_fields[name]) : "missing", shown(value)));
  }
  for (const auto& [name, value] : old_fields.items()) {
    check_argument(
        new_fields.contains(name), source,
        fmt::format("the run was started with other options: '{}' is {} there and missing now", name, shown(value)));
  }
}

// Adam takes the square root of it: a negative one would turn the parameters into NaN at the next step.
void check_second_moment(const std::string& source, const Adam& adam) {
  const auto found = std::find_if(adam.second_moment.begin(), adam.second_moment.end(), [](float v) { return v < 0; });
  if (found == adam.second_moment.end()) return;
  throw Error(ErrorCode::kParse,
              fmt::format("{}: tensors second_moment/...: an entry is {}, allowed are numbers from 0 "
                          "up",
                          source, *found));
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const TrainOptions& options, const Learner& learner,
                     const Replay& replay, const RunCounters& counters) {
  TensorFile file;
  const Parameters& parameters = parameters_of(learner.network());
  append_array(file, "parameters/", parameters, parameters.values());
  append_array(file, "first_moment/", parameters, learner.adam().first_moment);
  append_array(file, "second_moment/", parameters, learner.adam().second_moment);
  const json state = {{"num_episodes", counters.num_episodes}, {"next_number", counters.next_number},
                      {"num_rejected", counters.num_rejected}, {"stream_position", counters.stream_position},
                      {"num_steps", learner.num_steps()},      {"problems", append_replay(file, replay)},
                      {"taken", counters.taken.text()}};
  file.metadata = {{"format", kFormat},
                   {"format_version", kFormatVersion},
                   {"options", format_train_options(options)},
                   {"state", json_text(state)}};
  write_file_atomically(path, write_safetensors(file));
}

RunCounters load_checkpoint(const std::filesystem::path& path, const TrainOptions& options,
                            const TrainingProblems& problems, Learner& learner, Replay& replay) {
  const std::string source = path.string();
  TensorFile file = parse_safetensors(read_file(path), source);
  if (file.metadata["format"] != kFormat || file.metadata["format_version"] != kFormatVersion) {
    throw Error(ErrorCode::kParse, fmt::format("{}: not a checkpoint of this version", source));
  }
  try {
    check_options(source, file.metadata["options"], options);
    const std::string where = source + ": the state";
    const json parsed = parse_json_text(file.metadata["state"], where);
    const JsonField state(parsed, where);
    RunCounters counters;
    counters.num_episodes = state.at("num_episodes").whole<std::int64_t>(0, kMostEpisodes);
    counters.next_number = state.at("next_number").whole<std::uint64_t>(0, kFirstTestProblem);
    counters.num_rejected = state.at("num_rejected").whole<std::int64_t>();
    counters.stream_position = state.at("stream_position").text();
    learner.adam().num_steps = state.at("num_steps").whole<std::int64_t>(0, kMostSteps);
    if (state.has("taken")) {
      counters.taken = reading(where, [&] { return NumberSet::parse(state.at("taken").json().get<std::string>()); });
    }
    Parameters& parameters = parameters_of(learner.network());
    parameters.assign(parameters.values(), take_tensors(file, "parameters/"), source);
    parameters.assign(learner.adam().first_moment, take_tensors(file, "first_moment/"), source);
    parameters.assign(learner.adam().second_moment, take_tensors(file, "second_moment/"), source);
    check_second_moment(source, learner.adam());
    restore_replay(file, state.at("problems"), problems, source, replay);
    return counters;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kParse, fmt::format("{}: damaged metadata: {}", source, error.what()));
  }
}

}  // namespace treesample
