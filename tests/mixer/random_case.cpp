// The alphabet of the mixer: families of models, observations and options.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "mixer/draw.hpp"
#include "mixer/mixed_case.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::mixer {
namespace {

using Kind = MixedFactor::Kind;

class CaseMaker {
 public:
  CaseMaker(std::uint64_t seed, std::int64_t number) : draw_(seed, number) {}

  MixedCase make() {
    static constexpr std::pair<const char*, void (CaseMaker::*)()> kFamilies[] = {
        {"random", &CaseMaker::random_tables},
        {"tree", &CaseMaker::tree},
        {"grid", &CaseMaker::grid},
        {"network", &CaseMaker::network},
        {"xor", &CaseMaker::parities},
        {"permutation", &CaseMaker::permutation},
        {"cardinality", &CaseMaker::cardinality},
        {"clauses", &CaseMaker::clauses},
        {"states", &CaseMaker::many_states},
        {"whole", &CaseMaker::one_function},
        {"monotone", &CaseMaker::monotone},
        {"equal", &CaseMaker::equal_tables},
        {"nothing", &CaseMaker::next_to_nothing}};
    const auto& [name, fill] = kFamilies[draw_.below(static_cast<int>(std::size(kFamilies)))];
    case_.family = name;
    (this->*fill)();
    maybe_functions();
    observe();
    choose_options();
    maybe_faults();
    choose_doors();
    return std::move(case_);
  }

 private:
  int width() const { return static_cast<int>(case_.num_states.size()); }
  void variables(int count, int least, int most) {
    for (int v = 0; v < count; ++v) case_.num_states.push_back(draw_.between(least, most));
  }

  // A log-value of this model's kind.
  double value() {
    if (draw_.chance(zeros_)) return kNegInf;
    switch (regime_) {
      case 0:
        return draw_.normal();
      case 1:
        return 4.0 * draw_.normal();
      case 2:
        return std::pow(10.0, 1.0 + 3.0 * draw_.uniform()) * draw_.normal();
      case 3:
        return draw_.chance(0.7) ? draw_.normal() : -std::pow(10.0, 1.0 + 8.0 * draw_.uniform());
      case 4:
        return draw_.below(3) - 1.0;
      default:
        return 1e-12 * draw_.normal();
    }
  }
  void choose_values() {
    regime_ = draw_.below(6);
    zeros_ = draw_.one_of<double>({0.0, 0.0, 0.1, 0.4, 0.8});
  }

  void factor(std::vector<int> scope, const std::function<double(std::span<const int>)>& log_value) {
    MixedFactor made{.scope = std::move(scope)};
    std::vector<int> states(made.scope.size(), 0);
    for (bool goes_on = true; goes_on;) {
      made.log_values.push_back(log_value(states));
      goes_on = false;
      for (std::size_t i = states.size(); i-- > 0 && !goes_on;) {
        goes_on = ++states[i] < case_.num_states[static_cast<std::size_t>(made.scope[i])];
        if (!goes_on) states[i] = 0;
      }
    }
    case_.factors.push_back(std::move(made));
  }
  void table(std::vector<int> scope) {
    factor(std::move(scope), [&](std::span<const int>) { return value(); });
  }

  void random_tables() {
    choose_values();
    variables(draw_.between(1, 6), 1, 3);
    for (int m = draw_.between(1, 2 * width()); m > 0; --m) table(draw_.some_of(draw_.below(4), width()));
  }
  void tree() {
    choose_values();
    variables(draw_.between(2, 9), 2, 2);
    for (int v = 1; v < width(); ++v) table({draw_.below(v), v});
  }
  void grid() {
    choose_values();
    const int columns = draw_.between(2, 3);
    variables(3 * columns, 2, 2);
    for (int v = 0; v < width(); ++v) {
      if (v % columns + 1 < columns) table({v, v + 1});
      if (v + columns < width()) table({v, v + columns});
    }
  }
  // Conditional probabilities, some of them 0 and 1.
  void network() {
    const double certain = draw_.one_of<double>({0.0, 0.3, 0.8});
    variables(draw_.between(1, 7), 1, 3);
    for (int v = 0; v < width(); ++v) {
      std::vector<int> scope = draw_.some_of(draw_.below(3), v);
      scope.push_back(v);
      std::vector<double> row;
      factor(scope, [&](std::span<const int> states) {
        if (states.back() == 0) {
          row.assign(static_cast<std::size_t>(case_.num_states[static_cast<std::size_t>(v)]), 0.0);
          if (draw_.chance(certain)) {
            row[static_cast<std::size_t>(draw_.below(static_cast<int>(row.size())))] = 1.0;
          } else {
            double sum = 0.0;
            for (double& p : row) sum += p = draw_.uniform() + 1e-3;
            for (double& p : row) p /= sum;
          }
        }
        return std::log(row[static_cast<std::size_t>(states.back())]);
      });
    }
  }
  void parities() {
    variables(draw_.between(2, 8), 2, 2);
    for (int m = draw_.between(1, width()); m > 0; --m) {
      const int parity = draw_.below(2);
      factor(draw_.some_of(draw_.between(1, 4), width()), [&](std::span<const int> states) {
        return std::accumulate(states.begin(), states.end(), 0) % 2 == parity ? 0.0 : kNegInf;
      });
    }
    if (draw_.chance(0.5)) table({draw_.below(width())});
  }
  void permutation() {
    const int size = draw_.between(2, 4);
    variables(size, size, size);
    for (int v = 0; v < size; ++v) {
      for (int w = 0; w < v; ++w) {
        factor({w, v}, [](std::span<const int> states) { return states[0] != states[1] ? 0.0 : kNegInf; });
      }
    }
    for (int v = 0; v < size; ++v) {
      if (draw_.chance(0.5)) table({v});
    }
  }
  void cardinality() {
    variables(draw_.between(2, 7), 2, 2);
    const int wanted = draw_.below(width() + 2);
    std::vector<int> scope(static_cast<std::size_t>(width()));
    std::iota(scope.begin(), scope.end(), 0);
    factor(scope, [&](std::span<const int> states) {
      return std::accumulate(states.begin(), states.end(), 0) == wanted ? 0.0 : kNegInf;
    });
    for (int v = 0; v < width(); ++v) table({v});
  }
  void clauses() {
    variables(draw_.between(3, 9), 2, 2);
    for (int m = draw_.between(1, 4 * width()); m > 0; --m) {
      std::vector<int> scope = draw_.some_of(draw_.between(1, 3), width());
      std::vector<int> denied;
      for (std::size_t i = 0; i < scope.size(); ++i) denied.push_back(draw_.below(2));
      factor(scope, [&](std::span<const int> states) {
        return std::equal(states.begin(), states.end(), denied.begin()) ? kNegInf : 0.0;
      });
    }
    for (int v = 0; v < width(); ++v) {
      if (draw_.chance(0.3)) table({v});
    }
  }
  void many_states() {
    choose_values();
    variables(draw_.between(1, 2), 2, 60);
    variables(draw_.between(0, 1), 1, 3);
    for (int m = draw_.between(1, 3); m > 0; --m) table(draw_.some_of(draw_.between(1, 2), width()));
  }
  void one_function() {
    choose_values();
    variables(draw_.between(2, 6), 2, 3);
    std::vector<int> scope(static_cast<std::size_t>(width()));
    std::iota(scope.begin(), scope.end(), 0);
    table(scope);
    case_.factors.back().kind = draw_.chance(0.5) ? Kind::kFunction : Kind::kBoundedFunction;
    for (int v = 0; v < width(); ++v) {
      if (draw_.chance(0.3)) table({v});
    }
  }
  // Weighted sums of the states, cut off below.
  void monotone() {
    variables(draw_.between(2, 6), 2, 3);
    for (int m = draw_.between(1, 2); m > 0; --m) {
      const std::vector<int> scope = draw_.some_of(draw_.between(1, width()), width());
      std::vector<double> weights;
      for (std::size_t i = 0; i < scope.size(); ++i)
        weights.push_back(2.0 * draw_.uniform() * (draw_.chance(0.5) ? 1 : -1));
      const double floor = draw_.chance(0.5) ? -1.0 : -1e9;
      const bool is_hard = draw_.chance(0.5);
      factor(scope, [&](std::span<const int> states) {
        double sum = 0.0;
        for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * states[i];
        return sum >= floor ? sum : is_hard ? kNegInf : floor;
      });
      MixedFactor& made = case_.factors.back();
      made.kind = Kind::kMonotoneFunction;
      for (const double weight : weights) {
        made.directions.push_back(weight >= 0.0 ? Direction::kIncreasing : Direction::kDecreasing);
      }
    }
    choose_values();
    for (int v = 0; v < width(); ++v) {
      if (draw_.chance(0.5)) table({v});
    }
  }
  void equal_tables() {
    choose_values();
    variables(draw_.between(3, 7), 2, 2);
    std::vector<double> same;
    for (int i = 0; i < 4; ++i) same.push_back(value());
    for (int v = 1; v < width(); ++v) {
      factor({draw_.chance(0.5) ? 0 : v - 1, v},
             [&](std::span<const int> states) { return same[static_cast<std::size_t>(2 * states[0] + states[1])]; });
    }
  }
  void next_to_nothing() {
    choose_values();
    variables(draw_.between(0, 3), 1, 2);
    for (int m = draw_.between(0, 2); m > 0; --m) table(draw_.some_of(draw_.below(2), width()));
  }

  // Some tables are only known by calling them.
  void maybe_functions() {
    if (!draw_.chance(0.25)) return;
    for (MixedFactor& made : case_.factors) {
      const bool is_too_large =
          std::any_of(made.log_values.begin(), made.log_values.end(), [](double v) { return v > 1e7; });
      if (made.kind != Kind::kTable || made.scope.empty() || is_too_large || draw_.chance(0.5)) continue;
      made.kind = draw_.chance(0.5) ? Kind::kFunction : Kind::kBoundedFunction;
    }
  }

  // Functions with noise or failures. Noise has to be declared: without it, values are believed.
  void maybe_faults() {
    if (!draw_.chance(0.1)) return;
    const Kind fault = draw_.chance(0.5) ? Kind::kNoisyFunction : Kind::kFailingFunction;
    bool has_fault = false;
    for (MixedFactor& made : case_.factors) {
      if (made.kind != Kind::kFunction && made.kind != Kind::kBoundedFunction) continue;
      made.kind = fault;
      has_fault = true;
    }
    if (!has_fault || fault != Kind::kNoisyFunction) return;
    std::erase_if(case_.options, [](const auto& given) { return given.first == "noise" || given.first == "method"; });
    case_.options.emplace_back("method", "learned");
    case_.options.emplace_back("noise", "yes");
  }

  void observe() {
    if (draw_.chance(0.4)) {
      for (const int v : draw_.some_of(draw_.between(1, 2), width())) {
        case_.evidence.push_back({v, draw_.below(case_.num_states[static_cast<std::size_t>(v)])});
      }
    }
    if (width() == 0 || !draw_.chance(0.15)) return;
    SoftObservation seen{.variable = draw_.below(width())};
    for (int k = 0; k < case_.num_states[static_cast<std::size_t>(seen.variable)]; ++k) {
      seen.weights.push_back(draw_.chance(0.2) && k > 0 ? 0.0 : draw_.uniform() + 1e-3);
    }
    case_.soft_evidence.push_back(std::move(seen));
  }

  std::string name() { return width() == 0 ? "x0" : "x" + std::to_string(draw_.below(width())); }
  std::string state_of(const std::string& variable) {
    const int states = width() == 0 ? 1 : case_.num_states[std::stoul(variable.substr(1))];
    return variable + "=" + std::to_string(draw_.below(states));
  }

  // A value that people might give.
  std::string value_for(const OptionInfo& option) {
    static const std::map<std::string, std::vector<std::string>> kValues = {
        {"time", {"0.02", "0.1", "1"}},
        {"gap", {"0", "1e-9", "1e-3", "0.1", "5", "1e9"}},
        {"calls", {"1", "7", "40", "300"}},
        {"new-calls", {"1", "10"}},
        {"budget", {"1", "5", "50", "1000"}},
        {"memory", {"1", "1K", "4K", "50K", "1M", "64M"}},
        {"threads", {"0", "1", "2", "3"}},
        {"samples", {"0", "1", "20"}},
        {"k-best", {"1", "2", "6", "2000"}},
        {"seed", {"1", "2", "18000000000000000000"}},
        {"restarts", {"0", "1", "20"}},
        {"c", {"0", "0.1", "1", "10"}},
        {"epsilon", {"0", "0.1", "10"}},
        {"confidence", {"0.5", "0.95", "0.999"}},
        {"max-tries", {"1", "1000"}},
        {"importance", {"0", "1", "50", "500"}},
        {"error-share", {"0", "0.1", "0.5", "0.9"}},
        {"ess-threshold", {"0", "0.5", "1"}},
        {"sweeps", {"1", "5"}},
        {"burn-in", {"0", "10"}},
        {"messages", {"1", "5"}},
        {"damping", {"0", "0.5"}},
        {"root-samples", {"0", "20"}},
        {"oracle-workers", {"1", "2"}},
        {"noise", {"look", "no", "yes", "0.3"}},
    };
    const auto found = kValues.find(option.name);
    if (found != kValues.end()) return draw_.one_of(found->second);
    if (option.name == "query" || option.name == "map") {
      const std::string first = name();
      const std::string second = name();
      const std::string third = name();
      if (first == second || draw_.chance(0.5)) return first;
      const bool has_third = third != first && third != second && draw_.chance(0.3);
      return first + "," + second + (has_third ? "," + third : "");
    }
    if (option.name == "sensitivity") return draw_.chance(0.3) ? "evidence" : state_of(name());
    if (option.name == "value-for") return name();
    if (option.meta.find('|') == std::string::npos) return option.initial;
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= option.meta.size();) {
      const std::size_t end = std::min(option.meta.find('|', begin), option.meta.size());
      const std::string word = option.meta.substr(begin, end - begin);
      const auto is_small = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
      if (!word.empty() && std::all_of(word.begin(), word.end(), is_small)) words.push_back(word);
      begin = end + 1;
    }
    return words.empty() ? option.initial : draw_.one_of(words);
  }

  void choose_options() {
    const std::vector<OptionInfo>& all = infer_options();
    for (int left = draw_.one_of<int>({0, 1, 1, 2, 2, 3, 4, 6}); left > 0; --left) {
      const OptionInfo& option = draw_.one_of(all);
      const std::string value = value_for(option);
      if (value.empty()) continue;
      const auto is_given = [&](const auto& given) { return given.first == option.name; };
      if (!option.is_repeated && std::any_of(case_.options.begin(), case_.options.end(), is_given)) continue;
      case_.options.emplace_back(option.name, value);
    }
  }

  // How the model and the question come: from a file, with an order, case by case.
  void choose_doors() {
    if (width() > 0 && draw_.chance(0.08)) {
      const bool has_functions = std::any_of(case_.factors.begin(), case_.factors.end(),
                                             [](const MixedFactor& made) { return made.kind != Kind::kTable; });
      case_.door = has_functions && draw_.chance(0.5) ? "tell" : "program";
      if (draw_.chance(0.5)) {
        const std::string other = case_.family == "network" ? "do" : "formula";
        case_.door = draw_.chance(0.6) ? "session" : other;
      }
      case_.door_seed = static_cast<std::uint64_t>(draw_.below(1'000'000));
      case_.evidence.clear();
      case_.soft_evidence.clear();
      case_.options.clear();
      return;
    }
    const bool has_only_tables = std::all_of(case_.factors.begin(), case_.factors.end(),
                                             [](const MixedFactor& made) { return made.kind == Kind::kTable; });
    if (has_only_tables && draw_.chance(0.15)) {
      case_.format = draw_.one_of<std::string>(
          {".uai", ".json", ".fg", ".bif", ".xmlbif", ".xdsl", ".net", ".dsc", ".wcsp", ".cnf"});
    }
    if (has_only_tables && width() > 0 && draw_.chance(0.05)) {
      case_.order = draw_.some_of(width(), width());
      if (draw_.chance(0.5)) case_.slices = draw_.some_of(draw_.between(1, 2), width());
    }
    if (width() == 0 || !draw_.chance(0.05)) return;
    for (int left = draw_.between(1, 3); left > 0; --left) {
      Evidence& seen = case_.cases.emplace_back();
      for (const int v : draw_.some_of(draw_.below(3), width())) {
        const bool is_known = std::any_of(case_.evidence.begin(), case_.evidence.end(),
                                          [=](const Observation& known) { return known.variable == v; });
        const int state = draw_.below(case_.num_states[static_cast<std::size_t>(v)]);
        if (!is_known) seen.push_back({v, state});
      }
    }
  }

  Draw draw_;
  MixedCase case_;
  int regime_ = 0;
  double zeros_ = 0.0;
};

}  // namespace

MixedCase random_case(std::uint64_t seed, std::int64_t number) { return CaseMaker(seed, number).make(); }

}  // namespace treesample::mixer
