// A finished episode as bytes, for the way from a worker to the learner.
//
// Little-endian: magic "TSEP0003", version of the library and name of the worker (u32 length and characters each),
// fingerprint of the options (u64), problem (u64), version of the parameters (i64), the six measurements (f64, NaN if
// not measured), numbers of samples, rows and targets per row (u32 each), samples (i32), samples and levels of the rows
// (i32), targets (f32), number of upper ends (u32; 0 if targets are not intervals), upper ends (f32). In transit it is
// sealed (message_seal.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "train/worker.hpp"

namespace treesample {

// FNV-1a, 64 bits.
std::uint64_t fingerprint(std::string_view bytes);

std::string encode_episode(const FinishedEpisode& episode, std::uint64_t options_fingerprint);

// The name of the worker; throws kParse if there is none. For bytes whose seal was removed.
std::string episode_worker(std::string_view bytes);
// True if the bytes begin like an episode in another version's format.
bool is_foreign_episode(std::string_view bytes);

// Throws kParse if the bytes are damaged or come from a run with other options, kArgument if the content does not fit
// its problem. Nothing is trusted, whoever sealed it.
FinishedEpisode decode_episode(std::string_view bytes, std::uint64_t options_fingerprint,
                               const TrainingProblems& problems);

}  // namespace treesample
