// The default of every option, and the options as other parts see them.
#include "infer/option_table.hpp"
#include "treesample/error.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample {

InferRequest default_request() {
  InferRequest request;
  request.limits.budget = 100'000;
  request.limits.calls = 1000;
  request.options = {.method = Method::kTreeSample,
                     .select = SelectRule::kQUct,
                     .space = SpaceKind::kAndOr,
                     .order = OrderKind::kMinFill,
                     .restarts = 0,
                     .prior = "uniform",
                     .network_values = NetworkValues::kTelescoped,
                     .root_samples = RootSamplesOptions{}.count,
                     .when_full = WhenFull::kRebuild,
                     .budget_unit = BudgetUnit::kReward,
                     .c = 1.0,
                     .epsilon = 0.1,
                     .bonus = BonusScale::kQPhi,
                     .ties = TieRule::kLowest,
                     .confidence = 0.95,
                     .sampler = SampleSource::kLower,
                     .max_tries = 10'000'000,
                     .ess_threshold = 0.5,
                     .resampling = ResamplingScheme::kSystematic,
                     .sweeps = 10,
                     .gibbs_mode = GibbsMode::kRestarts,
                     .burn_in = 0,
                     .messages = 5,
                     .damping = 0.0,
                     .importance = 1000,
                     .error_share = 0.1,
                     .workers = 1,
                     .answer_order = AnswerOrder::kArrival,
                     .trace = false,
                     .compile = false,
                     .simplify = true};
  return request;
}

const std::vector<OptionInfo>& infer_options() {
  static const std::vector<OptionInfo> options = [] {
    std::vector<OptionInfo> list;
    const InferRequest defaults = default_request();
    for (const OptionRow& known : option_rows()) {
      const bool is_file = std::string_view(known.name) == "resume";
      list.push_back({known.name, known.help, is_file ? "FILE" : known.meta(), known.text(defaults), known.is_common,
                      known.is_repeated});
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

void set_option(InferRequest& request, std::string_view name, std::string_view text) {
  if (name == "method" && text == "auto") {
    request.options.method.reset();
    return;
  }
  const OptionRow& known = option_row(name);
  known.set(request, known, text);
}

std::string option_text(const InferRequest& request, std::string_view name) { return option_row(name).text(request); }

}  // namespace treesample
