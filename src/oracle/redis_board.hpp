// The keys of a run of questions (redis_messages.hpp) as functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/redis_messages.hpp"
#include "remote/redis_stream.hpp"
#include "remote/sealed_channel.hpp"

namespace treesample {

class QuestionBoard : public SealedChannel {
 public:
  using SealedChannel::SealedChannel;

  // The coordinator's side. `rebuild` forgets all questions, not the answers.
  void rebuild(const RunHead& head);
  // Are head, stream and group there, and of this session?
  bool is_intact(const std::string& session);
  // Adds entries to the questions, once for each number. False when the server has lost what `rebuild` made.
  bool add(const std::string& session, std::int64_t number, const std::vector<std::string>& sealed);
  std::int64_t num_questions();
  std::int64_t num_in_hand();  // of workers
  // Workers that have looked for questions or shown signs of life within so many seconds.
  int num_workers(double seconds);
  // These answers are recorded: neither workers nor the server need to keep them.
  void forget_answers(const std::vector<std::string>& positions);
  // The same at the end of the run, if the server can be reached.
  void forget_at_the_end(const std::vector<std::string>& positions) noexcept;
  // Tells workers to leave; head and marks expire after an hour. Does nothing when the server is away.
  void announce_end(RunHead head) noexcept;

  // The worker's side.
  struct View {
    std::optional<RunHead> head;  // nothing when nobody has published one
    bool has_coordinator = false;
    std::string safe;
  };
  View look(const std::string& worker);  // a sign of life too
  // A question whose worker has sent no sign of life for the lease, or a new one; waits up to `wait_seconds`.
  std::optional<StreamEntry> claim(const std::string& worker, double lease_seconds);
  std::optional<StreamEntry> next(const std::string& worker, double wait_seconds);
  // How often it has been given to a worker.
  std::int64_t num_deliveries(const std::string& position);
  // A sign of life, also when the connection was lost meanwhile.
  void hold(const std::string& worker, const std::string& position) noexcept;
  // Adds the answer, removes the question and, unless `worker` is empty, takes the next question if there is one, all
  // in one step.
  struct Answered {
    std::string position;  // of the answer
    std::optional<StreamEntry> next;
  };
  Answered answer(const std::string& position, const std::string& sealed, const std::string& worker);
  // Removes an entry that is not a valid question.
  void drop(const std::string& position);
  // Puts back a question that was begun, for other workers.
  void give_back(const StreamEntry& entry) noexcept;
  void leave(const std::string& worker) noexcept;
};

// "12-0" before "12-1" before "13-0".
bool is_before(const std::string& position, const std::string& other);

}  // namespace treesample
