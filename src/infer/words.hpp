// The words of choices, for options, answers and messages: one list per enumeration.
#pragma once

#include <array>
#include <span>

#include "treesample/infer/options.hpp"

namespace treesample {

template <typename Enum>
struct Word {
  const char* word;
  Enum value;
};
template <typename Enum>
Word(const char*, Enum) -> Word<Enum>;

inline constexpr std::array kSpaceWords = {Word{"tree", SpaceKind::kTree}, Word{"graph", SpaceKind::kGraph},
                                           Word{"andor", SpaceKind::kAndOr}};
inline constexpr std::array kOrderWords = {Word{"given", OrderKind::kGiven}, Word{"degree", OrderKind::kDegree},
                                           Word{"min-fill", OrderKind::kMinFill},
                                           Word{"min-width", OrderKind::kMinWidth}};
inline constexpr std::array kUnitWords = {Word{"reward", BudgetUnit::kReward}, Word{"factor", BudgetUnit::kFactor},
                                          Word{"cost", BudgetUnit::kCost}, Word{"call", BudgetUnit::kCall}};
inline constexpr std::array kTieWords = {Word{"lowest", TieRule::kLowest}, Word{"random", TieRule::kRandom}};
inline constexpr std::array kBonusWords = {Word{"q-phi", BonusScale::kQPhi},
                                           Word{"log-states", BonusScale::kLogStates}};
inline constexpr std::array kSourceWords = {Word{"lower", SampleSource::kLower}, Word{"upper", SampleSource::kUpper},
                                            Word{"rejection", SampleSource::kRejection}};
inline constexpr std::array kResamplingWords = {Word{"multinomial", ResamplingScheme::kMultinomial},
                                                Word{"stratified", ResamplingScheme::kStratified},
                                                Word{"systematic", ResamplingScheme::kSystematic}};
inline constexpr std::array kGibbsWords = {Word{"restarts", GibbsMode::kRestarts}, Word{"chain", GibbsMode::kChain}};
inline constexpr std::array kAnswerOrderWords = {Word{"arrival", AnswerOrder::kArrival},
                                                 Word{"submission", AnswerOrder::kSubmission}};
inline constexpr std::array kNetworkValuesWords = {Word{"telescoped", NetworkValues::kTelescoped},
                                                   Word{"absolute", NetworkValues::kAbsolute}};
inline constexpr std::array kWhenFullWords = {Word{"rebuild", WhenFull::kRebuild}, Word{"stop", WhenFull::kStop}};
inline constexpr std::array kAimWords = {Word{"all", Aim::kAll}, Word{"best", Aim::kBest}, Word{"logz", Aim::kLogZ}};
inline constexpr std::array kYesNo = {Word{"yes", true}, Word{"no", false}};
// Overloads by type, so that code which handles options need not name the list.
std::span<const Word<Method>> words_of(Method);  // these two from the registry of methods
std::span<const Word<SelectRule>> words_of(SelectRule);
constexpr std::span<const Word<SpaceKind>> words_of(SpaceKind) { return kSpaceWords; }
constexpr std::span<const Word<OrderKind>> words_of(OrderKind) { return kOrderWords; }
constexpr std::span<const Word<BudgetUnit>> words_of(BudgetUnit) { return kUnitWords; }
constexpr std::span<const Word<TieRule>> words_of(TieRule) { return kTieWords; }
constexpr std::span<const Word<BonusScale>> words_of(BonusScale) { return kBonusWords; }
constexpr std::span<const Word<SampleSource>> words_of(SampleSource) { return kSourceWords; }
constexpr std::span<const Word<ResamplingScheme>> words_of(ResamplingScheme) { return kResamplingWords; }
constexpr std::span<const Word<GibbsMode>> words_of(GibbsMode) { return kGibbsWords; }
constexpr std::span<const Word<AnswerOrder>> words_of(AnswerOrder) { return kAnswerOrderWords; }
constexpr std::span<const Word<NetworkValues>> words_of(NetworkValues) { return kNetworkValuesWords; }
constexpr std::span<const Word<WhenFull>> words_of(WhenFull) { return kWhenFullWords; }
constexpr std::span<const Word<Aim>> words_of(Aim) { return kAimWords; }
constexpr std::span<const Word<bool>> words_of(bool) { return kYesNo; }

template <typename Enum>
const char* word_for(Enum value) {
  for (const Word<Enum>& known : words_of(value)) {
    if (known.value == value) return known.word;
  }
  return "";
}

}  // namespace treesample
