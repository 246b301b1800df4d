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

  // The coordinator's functions. `rebuild` forgets all questions, but not the answers.
  void rebuild(const RunHead& head);
  // True if head, stream and group exist and belong to this session.
  bool is_intact(const std::string& session);
  // Adds entries to the questions, only once for each number. Returns false if the server has lost what `rebuild` made.
  bool add(const std::string& session, std::int64_t number, const std::vector<std::string>& sealed);
  std::int64_t num_questions();
  std::int64_t num_in_hand();  // questions that workers hold
  // The number of workers that have looked for questions or shown signs of life within this many seconds.
  int num_workers(double seconds);
  // Call it for recorded answers: neither workers nor the server need to keep them.
  void forget_answers(const std::vector<std::string>& positions);
  // The same at the end of the run, if the server can be reached.
  void forget_at_the_end(const std::vector<std::string>& positions) noexcept;
  // Tells workers to leave; the head and the marks expire after an hour. Does nothing if the server is away.
  void announce_end(RunHead head) noexcept;

  // The worker's functions.
  struct View {
    std::optional<RunHead> head;  // none if no coordinator has published one
    bool has_coordinator = false;
    std::string safe;
  };
  View look(const std::string& worker);  // also counts as a sign of life
  // A question whose worker has sent no sign of life for the time of the lease, or a new question. Waits up to
  // `wait_seconds`.
  std::optional<StreamEntry> claim(const std::string& worker, double lease_seconds);
  std::optional<StreamEntry> next(const std::string& worker, double wait_seconds);
  // The number of times that it has been given to a worker.
  std::int64_t num_deliveries(const std::string& position);
  // Sends a sign of life, also if the connection was lost in the meantime.
  void hold(const std::string& worker, const std::string& position) noexcept;
  // In one step, adds the answer, removes the question and, unless `worker` is empty, takes the next question if there
  // is one.
  struct Answered {
    std::string position;  // position of the answer in its stream
    std::optional<StreamEntry> next;
  };
  Answered answer(const std::string& position, const std::string& sealed, const std::string& worker);
  // Removes an entry that is not a valid question.
  void drop(const std::string& position);
  // Returns a question that was begun, for other workers.
  void give_back(const StreamEntry& entry) noexcept;
  void leave(const std::string& worker) noexcept;
};

// Compares positions: "12-0" is before "12-1", which is before "13-0".
bool is_before(const std::string& position, const std::string& other);

}  // namespace treesample
