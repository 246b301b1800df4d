// Training across machines: one learner, any number of workers, and a Redis server between them.
//
// Keys of a run, all under "treesample:<run>:":
//   options     format_train_options of the learner: all that a worker needs to know
//   head        "<fingerprint of options> <version> running|done", small enough to be read before each episode
//   parameters  the newest network (network_file.hpp), replaced as a whole
//   next        the number of the next episode; workers draw theirs by INCR
//   episodes    a stream with one entry per finished episode, at most about kMaxStreamEntries of them
//
// Workers may join, leave or be killed at any time: what a killed one loses is its current episode. When
// the server is away, both sides try again with growing pauses; when it comes back empty, the learner
// publishes everything anew. The learner's checkpoint holds its place in the stream, so that a learner
// that was killed goes on (resume) with the first episode that it has not yet stored. An entry that is
// damaged, belongs to other options or repeats a number is counted as rejected and left out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "treesample/train/train.hpp"

namespace treesample {

struct RedisOptions {
  // redis://[user[:password]@]host[:port], the same with rediss:// for TLS, host[:port], or unix:PATH. User
  // and password may contain %xx.
  std::string address = "redis://127.0.0.1:6379";
  std::string password_file = {};  // first line: the password, instead of one in the address
  std::string tls_ca_file = {};    // certificates that are trusted; empty: those of the system
  std::string tls_cert_file = {};  // of the client, where the server asks for one
  std::string tls_key_file = {};
  std::string run = "default";
  double patience_seconds = 600.0;  // how long a server that does not answer, or a run without learner, is waited for

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

inline constexpr int kMaxStreamEntries = 256;

// True when this library was built with a hiredis that offers TLS.
bool has_redis_tls();

// Asked a few times a second, also while waiting; false ends the run, which can be resumed.
using KeepGoing = std::function<bool()>;

// The learner: like train(), with workers elsewhere. Always concurrent. Throws kIo when the server cannot be
// reached within the patience or refuses the login.
TrainReport train_distributed(const TrainOptions& options, const RedisOptions& redis,
                              const TrainObserver& observer = {}, const KeepGoing& keep_going = {});

struct WorkerReport {
  std::int64_t num_episodes = 0;
  std::int64_t num_reconnects = 0;
  bool is_run_finished = false;  // false: keep_going ended it
};

// A worker: joins the run, works until the learner has all its episodes. Throws kIo like the learner.
WorkerReport run_worker(const RedisOptions& redis, const KeepGoing& keep_going = {});

}  // namespace treesample
