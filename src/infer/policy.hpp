// Every number by which `infer` decides: how the time is shared, what is worth trying, how much is drawn.
//
// A share is of the time limit and counted from the start; *End is the moment at which a phase is over at the latest,
// *Share what one step may take, and *Seconds what it may take where there is no time limit. The values were chosen on
// the development models (docs/methods/search.md has the comparisons); none of them can make an answer false.
#pragma once

#include <cstdint>

namespace treesample::policy {

// ---- Without limits ------------------------------------------------------------------------------------------------
inline constexpr double kDefaultSeconds = 10.0;             // where only a search can answer
inline constexpr double kDefaultEliminationSeconds = 20.0;  // elimination that takes longer makes way for a search
inline constexpr std::int64_t kDefaultCostSeconds = 60;     // of programs, where the budget counts their seconds
inline constexpr std::int64_t kLeastDrawn = 100;  // samples of methods that draw, whatever a budget nobody named

// ---- After Ctrl-C --------------------------------------------------------------------------------------------------
inline constexpr double kGraceSeconds = 0.2;   // in which what there is can be made into an answer ...
inline constexpr int kMostForGrace = 200'000;  // ... of so many variables and factors; of more, only what is at hand

// ---- Getting ready -------------------------------------------------------------------------------------------------
inline constexpr double kSimplifyShare = 0.1;  // for what simplification does beyond one pass
inline constexpr double kChoiceEnd = 0.5;      // what elimination would cost is not looked for any longer
inline constexpr double kSetUpEnd = 0.7;       // orders, spaces and bounds are given up: first bounds are the answer
inline constexpr double kBucketsEnd = 0.55;    // mini-buckets are given up: the maxima of the factors are the bounds
inline constexpr double kOrderShare = 0.1;     // for orders of a search
inline constexpr double kOrderSeconds = 2.0;
inline constexpr double kMostOfTheRest = 0.5;  // no step takes more than this share of what is left

// ---- Elimination ---------------------------------------------------------------------------------------------------
inline constexpr int kEliminationRestarts = 4096;  // at most: fewer where elimination is cheap
inline constexpr double kCostShare = 0.04;         // for the order
// What the prediction of the time rests on: bucket entries, summed, by one thread; by several, so many to this power
// times as many; what marginals take, in the time of log Z; and memory that was not in use before.
inline constexpr double kEntriesPerSecond = 6e8;
inline constexpr double kThreadsPower = 0.85;
inline constexpr double kMarginalsWork = 4.0;
inline constexpr double kNewBytesPerSecond = 1e9;
inline constexpr double kAllShare = 0.5;             // of the time: where all is predicted to be done within it
inline constexpr double kLogZShare = 0.4;            // the same for log Z alone, before a search
inline constexpr double kLogZLook = 0.15;            // from when on it is given up if it would not be done ...
inline constexpr double kLogZEnd = 0.5;              // ... by then
inline constexpr double kSlicedMarginalsEnd = 0.95;  // marginals after it
// When all else is known: for a good configuration, of the time so far, and at least.
inline constexpr double kBestSearchShare = 0.5, kBestSearchSeconds = 1.0;
inline constexpr double kEliminationLook = 0.3;     // from when on elimination that would take too long is given up ...
inline constexpr double kEliminationEnd = 0.9;      // ... and when it must be done;
inline constexpr double kOpenEliminationEnd = 0.5;  // where a search would take its place, log Z by then
inline constexpr double kPaceShare = 0.1;           // of the time, before the pace of a phase says anything
inline constexpr double kMostProbableLook = 0.5;    // the same for the most probable configuration, which comes last
inline constexpr double kMostProbableEnd = 0.95;
inline constexpr double kMostProbableSeconds = 20.0;
inline constexpr double kMaximaPerSecond = 5e7;  // bucket entries, maximised
inline constexpr int kMostBestSamples = 1000;    // for a good configuration, where the best one does not fit
inline constexpr double kBestSampleShare = 0.02, kBestSampleSeconds = 0.5;
inline constexpr int kMostExactSamples = 100'000;  // for marginals that elimination does not tell
inline constexpr double kExactSamplesShare = 0.12, kExactSamplesSeconds = 2.5;

// ---- Counting ------------------------------------------------------------------------------------------------------
inline constexpr double kZerosToCount = 0.08;   // share of the table entries from which on it is tried before a search
inline constexpr double kHardToCount = 0.5;     // the same of tables that say nothing but what is impossible
inline constexpr double kCountTryEnd = 0.1;     // before a search: reductions, cheap elimination, and the search ...
inline constexpr double kCountFirstEnd = 0.4;   // ... for as long as it promises to be done by then
inline constexpr double kCountOptimism = 10.0;  // the branches that are left may be this many times quicker,
inline constexpr double kSoftOptimism = 3.0;    // and this many where most tables are probabilities too
inline constexpr double kReducedShare = 0.5;    // of that time: elimination of what the reductions leave
inline constexpr double kCircuitTryEnd = 0.5;   // the same for the circuit of what was solved
inline constexpr double kCircuitEnd = 0.6;
inline constexpr double kLeastElimination = 2.0;         // seconds of elimination from which on counting is tried first
inline constexpr double kCountBesideElimination = 0.02;  // for this share of its time,
inline constexpr double kCountOptimismBeside = 1.0;      // the same patience as above,
inline constexpr double kCountForElimination = 0.6;      // and for up to this one where it promises an end
inline constexpr double kCompileEnd = 0.7;               // a circuit that is wanted; then the usual way
inline constexpr double kCountEnd = 0.9;                 // as a method of its own

// ---- Mini-buckets --------------------------------------------------------------------------------------------------
inline constexpr double kBucketBytesPerSecond = 40e6;  // what the passes of both bounds can work through
inline constexpr double kBucketShare = 0.3, kBucketSeconds = 5.0;
inline constexpr std::uint64_t kBucketMemoryDivisor = 4;  // of the memory: the search wants the rest
// How well they do depends on the order. Of many greedy ones with noise, whose exact search costs about the same, those
// are kept whose buckets are split into the fewest clusters with the memory that they will have; among these one pass
// decides, with tables as large as they will be: smaller ones tell little.
inline constexpr double kTrialShare = 0.18, kPlanShare = 0.07;  // all of it; orders and plans
inline constexpr int kPlannedOrders = 500;
inline constexpr std::size_t kTrialOrders = 8;
inline constexpr int kTrialRestarts = 10;        // of the plain order that is the first one,
inline constexpr double kRestartsGain = 3.0;     // and what all restarts may find that is better, in nats
inline constexpr double kTrialCostMargin = 2.0;  // in nats, at most
// A search that comes near its end wants the cheapest order instead: mini-buckets close most of its nodes, and it gets
// this many times as far as its evaluations say.
inline constexpr double kEvaluationsPerSecond = 1e6;
inline constexpr double kClosedByBuckets = 1e3;
inline constexpr double kReachSeconds = 10.0;
inline constexpr int kMeanFieldSweeps = 20;  // for the lower bounds beside them
inline constexpr double kMeanFieldShare = 0.05, kMeanFieldSeconds = 5.0;

// ---- The search with bounds ----------------------------------------------------------------------------------------
inline constexpr double kFindShare = 0.1, kFindSeconds = 2.0;  // for a first configuration
inline constexpr double kGapSearchEnd = 0.65;                  // then its samplers begin
// Bounds that are this far apart when this much time is over hardly move any more: samples then tell more.
inline constexpr double kFarGap = 10.0;
inline constexpr double kFarSearchEnd = 0.4;
// Sooner, after this share of the time, where the upper bound would fall by less than this by then.
inline constexpr double kFarLookShare = 0.02;
inline constexpr double kFarFall = 0.1;
inline constexpr double kLeastSearchShare = 0.1;      // of the time, whatever came before took on a busy machine
inline constexpr double kSearchPassSeconds = 0.5e-6;  // per node, for the samplers and the best configuration
inline constexpr std::uint64_t kSearchMemoryDivisor = 2;
inline constexpr double kExactMarginalsShare = 0.2, kExactMarginalsSeconds = 5.0;  // of a solved search
inline constexpr std::uint64_t kMarginalsMemoryDivisor = 4;
inline constexpr std::int64_t kFewestSamples = 10'000;  // with bounded weights, where they are cheap
inline constexpr double kExtraSamplesSeconds = 10.0, kSolvedSamplesSeconds = 5.0;
inline constexpr double kEstimateEnd = 0.9, kRejectionEstimateEnd = 0.75;  // where samples are to follow
inline constexpr int kCertifiedMarginalSamples = 1000;  // of P_L, where every weighted sample was impossible

// ---- Cutsets, between the search with bounds and its samples --------------------------------------------------------
inline constexpr double kCutsetLeastGap = 0.01;  // of the bounds, in nats; less is not worth it
inline constexpr double kPilotShare = 0.05;      // for samples that tell which joint states are worth their time
inline constexpr double kPilotEss = 1000.0;      // effective ones that are enough,
inline constexpr std::size_t kPilotLook = 1000;  // as every so many show
inline constexpr std::size_t kPilotStates = std::size_t{8} << 20;  // of all variables of these, at most
inline constexpr double kCutsetTriesShare = 0.025;  // for choices of the variables, the best one of which
inline constexpr double kCutsetChoiceShare = 0.12;  // is taken; for the first one, or none
inline constexpr double kCutsetOfRest = 0.12;       // of the time that is left, for sums
inline constexpr double kCutsetEnd = 0.5;           // of what the search leaves: all of it is over, usually earlier
// Joint states that there is time for: fewer and larger ones have more of Z, but a bad choice of them is found too
// late.
inline constexpr double kJointStates = 48.0;
inline constexpr double kLeastJointEntries = 1 << 14;
inline constexpr std::size_t kFirstJointStates = 16;  // after which it is given up where it leads nowhere:
inline constexpr double kLeastKnownShare = 0.02;      // less of Z than this, and no better lower bound

// ---- The tree search, and the search by mass -----------------------------------------------------------------------
inline constexpr double kEstimateSearchEnd = 0.85;  // where importance sampling is to follow
// Per node, for the best configuration, marginals and what is unexplored.
inline constexpr double kTreePassSeconds = 0.6e-6;
inline constexpr double kLeastSearchSeconds = 1e-6;
inline constexpr int kMarginalSamples = 10'000;  // of P_X, for marginals
inline constexpr int kAskedSamples = 1000;       // the same where a value function of the caller is asked for each
inline constexpr double kFrequencyShare = 0.05, kFrequencySeconds = 10.0;
inline constexpr std::int64_t kImportanceDivisor = 2;  // of a budget of calls: the most for importance samples
inline constexpr double kImportanceEnd = 0.95;         // where samples are to follow
inline constexpr double kShowReserve = 0.05;           // of the limit, for what showing samples takes beyond a trial
inline constexpr double kMostOfZ = 0.5;                // evaluated, below which marginals are guesses

// ---- Monotone functions --------------------------------------------------------------------------------------------
inline constexpr double kBoxSamples = 0.5;  // share of the calls for samples of what boxes leave open

// ---- Belief propagation --------------------------------------------------------------------------------------------
inline constexpr double kBeliefsEnd = 0.5;  // where samples are to follow

// ---- First bounds --------------------------------------------------------------------------------------------------
inline constexpr double kFirstFindSeconds = 0.1;
inline constexpr double kFirstBoundsLimit = 2.0;  // seconds of a run from which on this is nothing

// ---- Joint queries of methods that sample
// ----------------------------------------------------------------------------
inline constexpr int kJointSamples = 10'000;

// ---- Most probable states, after the answer of a method -------------------------------------------------------------
inline constexpr double kBestProofStart = 0.9;  // the method ends here where its best configuration may want a proof
inline constexpr double kMapStart = 0.4;        // the same where marginal MAP or several configurations are asked for
inline constexpr double kMapSeconds = 10.0;
// Where all else is exact the proof takes at most this share of the time so far, or this long.
inline constexpr double kExactProofShare = 0.5, kExactProofSeconds = 1.0;
inline constexpr double kMapBucketShare = 0.5;  // of what is left, for the messages that bound them
inline constexpr double kMostBestShare = 0.5;   // of the time from kMapStart on, for several configurations
// Without a time limit the proof has one that is the same on every machine.
inline constexpr std::int64_t kProofExpansions = 100'000;
inline constexpr std::uint64_t kProofBytes = std::uint64_t{64} << 20;
inline constexpr double kDerivativeEntries = 1e8;  // of elimination, for sensitivity and the value of observations
inline constexpr double kSumEntries = 5e6;  // of elimination, for the sum over the others given the states of some
inline constexpr double kSumSeconds = 0.5, kSumShare = 0.05;  // for its bounds where that is more

// ---- Impossible evidence --------------------------------------------------------------------------------------------
inline constexpr double kConflictShare = 0.1,
                        kConflictSeconds = 2.0;  // for the observations that contradict each other

// ---- Watching ------------------------------------------------------------------------------------------------------
inline constexpr int kTraversalsBetweenLooks = 16;  // short searches have a curve too
inline constexpr double kTellSeconds = 0.1;         // between two words on how far orders and bounds are

}  // namespace treesample::policy
