// Every number by which `infer` decides: how the time is divided, what is worth trying, how much is drawn.
//
// When a phase ends stands in its row (infer/phases.cpp); here is what its steps may take. A share is a share of the
// time limit, counted from the start. *Share is what one step may take, *Seconds the same without a time limit, and
// *End the latest end of a step. The values were chosen on the development models (docs/methods/search.md has the
// comparisons); none of them can make an answer wrong.
#pragma once

#include <cstdint>

namespace treesample::policy {

// ---- Without limits ------------------------------------------------------------------------------------------------
inline constexpr double kDefaultSeconds = 10.0;             // where only a search can answer
inline constexpr double kDefaultEliminationSeconds = 20.0;  // longer elimination is replaced by a search
inline constexpr std::int64_t kDefaultCostSeconds = 60;     // seconds of programs, where the budget counts these
inline constexpr std::int64_t kLeastDrawn = 100;            // samples that are drawn even beyond a default budget
inline constexpr std::int64_t kFewestForNoise = 10;         // calls of a budget of which one looks for noise
inline constexpr std::int64_t kBlindTries = 10'000;         // of rejection, if nothing says that a try can succeed

// ---- After the time limit or Ctrl-C --------------------------------------------------------------------------------
inline constexpr double kGraceSeconds = 0.2;   // to make an answer from what there is ...
inline constexpr int kMostForGrace = 200'000;  // ... up to this many variables and factors; larger models have none

// ---- When log Z is known --------------------------------------------------------------------------------------------
// What else is asked may take as long again as that took, and so long at least.
inline constexpr double kExtraShare = 1.0, kExtraSeconds = 1.0;

// ---- Getting ready -------------------------------------------------------------------------------------------------
inline constexpr double kSimplifyShare = 0.1;  // for simplification beyond its first pass
inline constexpr double kChoiceEnd = 0.5;      // end of looking for the cost of elimination
inline constexpr double kSetUpEnd = 0.7;       // orders, spaces and bounds are given up: first bounds are the answer
inline constexpr double kBucketsEnd = 0.55;    // mini-buckets are given up: the maxima of the factors are the bounds
inline constexpr double kOrderShare = 0.1;     // for the orders of a search
inline constexpr double kOrderSeconds = 2.0;
inline constexpr double kMostOfTheRest = 0.5;  // the largest share of the remaining time for one step

// ---- Elimination ---------------------------------------------------------------------------------------------------
inline constexpr double kCostShare = 0.04;  // for the order
// Of that, where at least this share of the tables says only what is possible: counting mostly makes orders needless.
inline constexpr double kAllHard = 0.9, kHardOrderShare = 0.035;
// For predicting the time: bucket entries per second and thread; the speed-up of several threads is their number to
// this power; the work of marginals in units of that of log Z; new memory per second.
inline constexpr double kSummedPerSecond = 1.2e9;
inline constexpr double kThreadsPower = 0.85;
inline constexpr double kMarginalsWork = 4.0;
inline constexpr double kMarginalsTime = 2.5;  // the same by the clock: much of the time of log Z is new memory
inline constexpr double kNewBytesPerSecond = 1e9;
// Bucket entries above which tables are decomposed, and the share of these that they may take then.
inline constexpr double kToDecompose = 1e7, kWorthDecomposing = 0.5;
inline constexpr double kAllShare = 0.5;   // chosen where all is predicted to fit into this
inline constexpr double kLogZShare = 0.5;  // the same for log Z alone, before a search
inline constexpr double kLogZLook = 0.15;  // it is given up from here on if it would not be done in time
// For a good configuration when all else is known: a share of the time so far, and the least time.
inline constexpr double kBestSearchShare = 0.5, kBestSearchSeconds = 1.0;
inline constexpr double kEliminationLook = 0.3;    // elimination that would take too long is given up from here on
inline constexpr double kQuickElimination = 0.05;  // of the time: elimination that is predicted to take less goes on
inline constexpr double kPaceShare = 0.1;          // of the time, before the pace of a phase says anything
// As kEliminationLook, for the most probable configuration, which is last.
inline constexpr double kMostProbableLook = 0.5;
inline constexpr double kMostProbableSeconds = 20.0;
inline constexpr double kMaximaPerSecond = 5e7;  // bucket entries, maximised
inline constexpr int kMostBestSamples = 1000;    // for a good configuration, where finding the best one does not fit
inline constexpr double kBestSampleShare = 0.02, kBestSampleSeconds = 0.5;
inline constexpr double kBarrenShare = 0.2, kBarrenSeconds = 5.0;  // for marginals of barren variables by elimination
inline constexpr int kMostExactSamples = 100'000;                  // for marginals that elimination cannot give

// ---- Many cases ----------------------------------------------------------------------------------------------------
// Of one case, by predicted bucket entries: cases that take longer do not share their sums.
inline constexpr double kSharedCaseSeconds = 2.0;

// ---- Counting ------------------------------------------------------------------------------------------------------
inline constexpr double kZerosToCount = 0.08;    // least share of zero entries for counting before a search
inline constexpr double kHardToCount = 0.5;      // least share of tables that say only what is impossible, for the same
inline constexpr double kCountShare = 0.25;      // of the time, in turns with a search,
inline constexpr double kHardCountShare = 0.75;  // and where most tables say only what is impossible
inline constexpr int kManyClauses = 20'000;      // a model of so many is counted, and nothing else
inline constexpr double kHopelessShare = 0.01;   // of its branches: elsewhere it is given up where fewer are finished
inline constexpr double kFirstCountShare = 0.1;  // of the time, in processor seconds: its first turn
inline constexpr double kReducedShare = 0.5;     // of that time, for elimination of what the reductions leave
inline constexpr double kLeastElimination = 1.0;         // seconds of elimination above which counting is tried first,
inline constexpr double kCountBesideElimination = 0.02;  // for this share of its time,
inline constexpr double kCountOptimismBeside = 1.0;      // with this optimism,
inline constexpr double kCountForElimination = 0.6;      // and for up to this share where it promises an end
inline constexpr double kCompileEnd = 0.7;       // of compiling a circuit that was asked for; then the usual way
inline constexpr double kFormulaEnd = 0.4;       // of a model that is a formula, before that
inline constexpr double kFormulaSeconds = 60.0;  // without a time limit
inline constexpr double kCountEnd = 0.9;         // as a method of its own, and in a thread of its own

// ---- Mini-buckets --------------------------------------------------------------------------------------------------
inline constexpr double kBucketBytesPerSecond = 40e6;  // that the passes of both bounds can process
inline constexpr double kBucketShare = 0.3, kBucketSeconds = 5.0;
inline constexpr std::uint64_t kBucketMemoryDivisor = 4;  // the search needs the rest of the memory
// Their quality depends on the order. Many greedy orders with noise are planned, those whose exact search costs about
// the same. Kept are those whose buckets are split into the fewest clusters with the memory that they will have. One
// pass decides among these, with tables of the final size: smaller ones predict little.
inline constexpr double kTrialShare = 0.18, kPlanShare = 0.07;  // for all of it; for orders and plans
inline constexpr int kPlannedOrders = 500;
inline constexpr std::size_t kTrialOrders = 8;
inline constexpr int kTrialRestarts = 10;        // of the plain order, which is the first one,
inline constexpr double kRestartsGain = 3.0;     // and the gain that all restarts may bring, in nats
inline constexpr double kTrialCostMargin = 2.0;  // in nats, at most
// A search that comes near its end needs the cheapest order instead. Mini-buckets close most of its nodes, so that it
// gets this many times as far as its number of evaluations says.
inline constexpr double kEvaluationsPerSecond = 1e6;
inline constexpr double kClosedByBuckets = 1e3;
inline constexpr double kReachSeconds = 10.0;
inline constexpr int kMeanFieldSweeps = 20;  // for the lower bounds beside mini-buckets
inline constexpr double kMeanFieldShare = 0.05, kMeanFieldSeconds = 5.0;

// ---- The search with bounds ----------------------------------------------------------------------------------------
inline constexpr double kFindShare = 0.1, kFindSeconds = 2.0;  // for a first configuration
inline constexpr std::int64_t kFindDecisions = 10'000;         // for the proof that there is none
// Bounds that are this many nats apart at this time hardly move any more: samples then tell more.
inline constexpr double kFarGap = 10.0;
inline constexpr double kFarSearchEnd = 0.4;
// Earlier, after this share of the time, where the upper bound would fall by less than this by then.
inline constexpr double kFarLookShare = 0.02;
inline constexpr double kFarFall = 0.1;
inline constexpr double kOpenGap = 1.0;  // the same for bounds that are closer, where the upper one stands nearly still
inline constexpr double kLeastSearchShare = 0.1;  // of the time for the search, however long the steps before it took
inline constexpr double kSearchPassSeconds = 0.5e-6;  // per node, for the samplers and the best configuration
inline constexpr std::uint64_t kSearchMemoryDivisor = 2;
inline constexpr double kExactMarginalsShare = 0.2, kExactMarginalsSeconds = 5.0;  // of a solved search
inline constexpr std::uint64_t kMarginalsMemoryDivisor = 4;
inline constexpr std::int64_t kFewestSamples = 10'000;  // where they are cheap
inline constexpr double kExtraSamplesSeconds = 10.0, kSolvedSamplesSeconds = 5.0;
inline constexpr int kCertifiedMarginalSamples = 1000;  // from P_L, where every weighted sample was impossible

// ---- Cutsets, between the search with bounds and its samples --------------------------------------------------------
inline constexpr double kCutsetLeastGap = 0.01;  // in nats; a smaller gap is not worth a cutset
inline constexpr double kPilotShare = 0.05;      // for samples that show which joint states are worth their time
inline constexpr double kPilotEss = 1000.0;      // enough effective samples
inline constexpr std::size_t kPilotLook = 1000;  // samples between two checks of that
inline constexpr std::size_t kPilotStates = std::size_t{8} << 20;  // of states in these samples
inline constexpr double kCutsetTriesShare = 0.025;  // for several choices of the variables, of which the best is taken
inline constexpr double kCutsetChoiceShare = 0.12;  // for the first choice; without it there is no cutset
inline constexpr double kCutsetOfRest = 0.12;       // of the remaining time, for the sums
// Joint states to sum in the time. Fewer and larger ones contain more of Z, but a bad choice is noticed too late.
inline constexpr double kJointStates = 48.0;
inline constexpr double kLeastJointEntries = 1 << 14;
inline constexpr std::size_t kFirstJointStates = 16;  // then it is given up where it covers ...
inline constexpr double kLeastKnownShare = 0.02;      // ... less of Z than this and gives no better lower bound

// ---- The tree search, and the search by mass -----------------------------------------------------------------------
// Per node, for the best configuration, marginals and the unexplored mass.
inline constexpr double kTreePassSeconds = 0.6e-6;
inline constexpr double kLeastSearchSeconds = 1e-6;
inline constexpr int kMarginalSamples = 10'000;  // of P_X, for marginals
inline constexpr int kAskedSamples = 1000;       // the same where a value function of the caller is called for each
inline constexpr double kFrequencyShare = 0.05, kFrequencySeconds = 10.0;
inline constexpr std::int64_t kImportanceDivisor = 2;  // of a budget of calls: the largest part for importance samples
inline constexpr double kShowReserve = 0.05;           // of the limit, for the time to show samples beyond a trial
inline constexpr double kMostOfZ = 0.5;                // evaluated share of Z below which marginals are guesses

// ---- Monotone functions --------------------------------------------------------------------------------------------
inline constexpr double kBoxSamples = 0.5;  // share of the calls for samples of what the boxes leave open

// ---- First bounds --------------------------------------------------------------------------------------------------
inline constexpr double kFirstFindSeconds = 0.1;
inline constexpr double kFirstBoundsLimit = 2.0;  // seconds of a time limit below which no configuration is looked for

// ---- Annealed importance sampling ----------------------------------------------------------------------------------
inline constexpr std::uint64_t kParticleMemoryDivisor = 4;  // for the last states of the chains
// Beside the samples of a search, as shares of the time that is left for both.
inline constexpr double kOutlookShare = 0.03;   // for samples that show how good weights are, and as much for tries:
inline constexpr double kGoodEss = 10'000.0;    // these would then be as many as this by the end
inline constexpr double kAnnealingShare = 0.4;  // end of the chains to the model, then
inline constexpr double kRejectionShare = 0.8;  // of drawing exact samples, and
inline constexpr double kBackwardShare = 0.9;   // of the chains back from them;
inline constexpr double kFewestExactSamples = 20.0;  // expected, or there are none
inline constexpr std::int64_t kMostExactStarts = 2000;
inline constexpr std::int64_t kFewestAnnealed = 128;  // chains that all end in impossible states: no more of them

// ---- Joint queries -------------------------------------------------------------------------------------------------
inline constexpr double kJointStart = 0.9;  // the method ends here: joint queries come after it
inline constexpr int kJointSamples = 100'000;

// ---- Most probable states, after the answer of a method -------------------------------------------------------------
inline constexpr double kMapSeconds = 10.0;
// Where all else is exact, the proof takes at most this share of the time so far, or this long.
inline constexpr double kExactProofShare = 0.5, kExactProofSeconds = 1.0;
inline constexpr double kMapBucketShare = 0.5;  // of the remaining time, for the messages that bound them
inline constexpr double kMostBestShare = 0.5;   // of the time after the method, for several configurations
// Without a time limit the proof has a limit that is the same on every machine.
inline constexpr std::int64_t kProofExpansions = 100'000;
inline constexpr std::uint64_t kProofBytes = std::uint64_t{64} << 20;
// Local search and proof, in turns: steps are table entries that are looked at. They grow, so that easy models are done
// at once; little is left to a local search that has found nothing for most of its work.
inline constexpr double kFirstLocalEntries = 1 << 16, kFirstProofSteps = 1 << 19, kProofGrowth = 1.5,
                        kLongestProofSteps = 1 << 28;
// Elimination is planned after so many steps, and again after so many times as many; orders get this share of the work.
// An entry of a maximum takes as long as this many steps.
inline constexpr double kFirstPlanSteps = 1 << 21, kPlanGrowth = 4.0, kPlanWork = 0.25, kStepsOfEntry = 0.25;
// With the question `best` it is chosen before where its maxima are as few as this, and orders get as much work.
inline constexpr double kMaximaAtOnce = 1 << 18, kOrderWorkForBest = 1 << 20;
inline constexpr double kLocalShare = 0.1, kIdleLocalShare = 0.01, kFruitful = 0.6;  // entries for each step
inline constexpr double kBeforeBuckets = 0.25, kBucketsShare = 0.5;  // of the time: when mini-buckets begin, and end
inline constexpr double kMostProofSteps = 1e8, kProofStepsBeforeBuckets = 2.5e7;  // without a time limit
inline constexpr double kProved = 5e-10;                                          // a gap that needs no more work
// Several configurations, by branch and bound before mini-buckets are tried.
inline constexpr double kSeveralShare = 0.3, kMostSeveralSteps = 1 << 24;
inline constexpr double kDerivativeEntries = 1e8;  // of elimination, for sensitivity and the value of observations
inline constexpr double kSumEntries = 5e6;         // of elimination, for the sum over the other variables
inline constexpr double kSumSeconds = 0.5, kSumShare = 0.05;  // for bounds on that sum, where it is larger

// ---- Impossible evidence --------------------------------------------------------------------------------------------
inline constexpr double kConflictShare = 0.1,
                        kConflictSeconds = 2.0;  // for finding contradictory observations

// ---- Watching ------------------------------------------------------------------------------------------------------
inline constexpr int kTraversalsBetweenLooks = 16;  // so that short searches have a curve too
inline constexpr double kTellSeconds = 0.1;         // between two reports on orders and bounds

}  // namespace treesample::policy
