// Training across machines: one learner, any number of workers, and a Redis server between them.
//
// Keys of a run, all under "treesample:<run>:" and sealed (src/remote/message_seal.hpp) except numbers and lease:
//   options     format_train_options of the learner: all that a worker needs to know
//   head        "<library version> <fingerprint of options> <version> running|done", small enough to be read before
//               each episode
//   parameters  the newest network (network_file.hpp), replaced as a whole
//   next        the number of the next episode; workers draw theirs by INCR
//   episodes    a stream with one entry per finished episode, at most about kMaxStreamEntries of them
//   lease       which learner has the run; expires unless it is renewed (src/remote/run_lease.hpp)
//
// Workers may join, leave or be killed at any time; a killed worker loses only its current episode. If the server is
// away or full, both sides try again with pauses. If it comes back empty, or if keys are not what they should be, the
// learner publishes everything again. The learner's checkpoint holds its position in the stream and the numbers of the
// episodes that it used. So a learner that was killed continues (resume) with the first episode that it has not yet
// stored, and none counts twice. An entry that does not verify, belongs to other options, repeats a number or has
// targets that its problem cannot reach is refused and counted. docs/distributed.md says what this protects against.
#pragma once

#include <cstdint>

#include "treesample/remote/redis_options.hpp"
#include "treesample/train/train.hpp"

namespace treesample {

inline constexpr int kMaxStreamEntries = 256;

// The learner: like train(), but with workers elsewhere. It is always concurrent. Throws kIo if the server cannot be
// reached for as long as the patience lasts or refuses the login, or if another learner has a run of that name. A
// report without a network means that it was ended before the run began.
TrainReport train_distributed(const TrainOptions& options, const RedisOptions& redis,
                              const TrainObserver& observer = {}, const RunCallbacks& callbacks = {});

struct WorkerReport {
  std::int64_t num_episodes = 0;
  std::int64_t num_reconnects = 0;
  bool is_run_finished = false;  // false if keep_going ended it
};

// A worker: joins the run and works until the learner has all its episodes. Throws kIo like the learner does, and if
// the run has had no learner for as long as the patience lasts.
WorkerReport run_worker(const RedisOptions& redis, const RunCallbacks& callbacks = {});

}  // namespace treesample
