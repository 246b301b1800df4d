#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

#include "io/json_fields.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/train/train.hpp"

namespace treesample {
namespace {

using nlohmann::json;

// Names every field in one place, for both writing and reading.
template <typename Options, typename Visit>
void visit_fields(Options& options, const Visit& visit) {
  auto& problems = options.problems;
  visit("family", problems.family);
  visit("reading", problems.reading);
  visit("family_values", problems.values);
  visit("model_text", problems.model_text);
  visit("model_format", problems.model_format);
  visit("models", problems.models);
  visit("evidence_variables", problems.evidence_variables);
  visit("order", problems.order);
  visit("is_single_graph", problems.is_single_graph);
  visit("test_n", options.test_n);
  visit("method", options.episode.method);
  visit("targets", options.episode.targets);
  visit("budget", options.episode.budget);
  visit("num_samples", options.episode.num_samples);
  visit("c", options.episode.c);
  visit("epsilon", options.episode.epsilon);
  visit("ess_threshold", options.episode.ess_threshold);
  visit("architecture", options.learner.architecture);
  visit("iterations", options.learner.iterations);
  visit("hidden", options.learner.hidden);
  visit("loss", options.learner.loss);
  visit("batch_size", options.learner.batch_size);
  visit("learning_rate", options.learner.adam.learning_rate);
  visit("replay_capacity", options.replay_capacity);
  visit("is_deterministic", options.is_deterministic);
  visit("steps_per_episode", options.steps_per_episode);
  visit("assess_every", options.assess_every);
  visit("plain_c", options.plain_c);
  visit("seed", options.seed);
}

// Newer fields are written only if they differ from the value that was fixed before, so that older runs can be resumed.
template <typename Options, typename Visit>
void visit_younger_fields(Options& options, const Visit& visit) {
  visit("bellman_weight", options.learner.bellman_weight, LearnerOptions{}.bellman_weight);
  visit("global_after", options.learner.global_after, LearnerOptions{}.global_after);
}

// Enumerations are written as numbers.
constexpr Reading last_of(Reading) { return Reading::kBest; }
constexpr OrderKind last_of(OrderKind) { return OrderKind::kMinWidth; }
constexpr InferenceMethod last_of(InferenceMethod) { return InferenceMethod::kSmc; }
constexpr TargetKind last_of(TargetKind) { return TargetKind::kBounds; }
constexpr Loss last_of(Loss) { return Loss::kPolicy; }

template <typename Value>
void read(const JsonField& field, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    value = static_cast<Value>(field.whole<int>(0, static_cast<int>(last_of(Value()))));
  } else if constexpr (std::is_same_v<Value, std::vector<int>>) {
    value.clear();
    for (int i = 0; i < field.array_size(); ++i) value.push_back(field.at(i).whole<int>());
  } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    value = field.whole<Value>();
  } else {
    field.json().get_to(value);
  }
}

}  // namespace

void TrainOptions::validate() const {
  problems.validate();
  episode.validate();
  learner.validate();
  check_range("TrainOptions", "num_episodes", num_episodes, 1, 1 << 30);
  check_range("TrainOptions", "replay_capacity", replay_capacity, 1, 1 << 28);
  check_range("TrainOptions", "steps_per_episode", steps_per_episode, 0, 1 << 20);
  check_range("TrainOptions", "num_workers", num_workers, 1, 1 << 10);
  check_range("TrainOptions", "assess_every", assess_every, 0, INT32_MAX);
  check_range("TrainOptions", "checkpoint_every", checkpoint_every, 1, INT32_MAX);
  check_at_least("TrainOptions", "plain_c", plain_c, 0.0);
  check_argument(test_n == 0 || !problems.has_models(), "TrainOptions", "test_n needs a family, not a model");
  check_argument(test_n == 0 || learner.architecture == "gnn", "TrainOptions",
                 "a perceptron has a fixed number of variables: test_n needs the architecture gnn");
  check_argument(learner.architecture == "gnn" || problems.is_single(), "TrainOptions",
                 "a perceptron cannot tell graphs apart: it needs a single graph");
  check_argument(!resume || !folder.empty(), "TrainOptions", "resume needs a folder");
}

std::string format_train_options(const TrainOptions& options) {
  json fields;
  visit_fields(options, [&](const char* name, const auto& value) { fields[name] = value; });
  visit_younger_fields(options, [&](const char* name, const auto& value, const auto& usual) {
    if (value != usual) fields[name] = value;
  });
  if (options.problems.generator) fields["generator"] = options.problems.generator_name;
  return json_text(fields);
}

TrainOptions parse_train_options(const std::string& text) {
  TrainOptions options;
  constexpr const char* kSource = "training options";
  const json parsed = parse_json_text(text, kSource);
  const JsonField fields(parsed, kSource);
  try {
    visit_fields(options, [&](const char* name, auto& value) { read(fields.at(name), value); });
    visit_younger_fields(options, [&](const char* name, auto& value, const auto&) {
      if (fields.has(name)) read(fields.at(name), value);
    });
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kParse, fmt::format("training options: {}", error.what()));
  }
  options.validate();
  return options;
}

}  // namespace treesample
