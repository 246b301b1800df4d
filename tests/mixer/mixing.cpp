#include "mixer/mixing.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample::mixer {
namespace {

// Of a case: of the processor, so that a busy machine is no reason, and on the wall, where it waits for ever. The
// longest limit of time among the options is a second.
constexpr double kMostSeconds = 300.0, kMostSecondsOnTheWall = 7200.0;

// The smallest case in reach that breaks the same promise.
MixedCase shrunk(MixedCase broken) {
  const auto promise_of = [](const std::string& line) { return line.substr(0, line.find(':')); };
  Tally ignored;
  const std::vector<std::string> lines = broken_promises(broken, ignored);
  if (lines.empty()) return broken;  // it depends on the clock
  const std::string promise = promise_of(lines[0]);
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (const MixedCase& candidate : smaller_cases(broken)) {
      const std::vector<std::string> left = broken_promises(candidate, ignored);
      if (left.empty() || promise_of(left[0]) != promise) continue;
      broken = candidate;
      is_smaller = true;
      break;
    }
  }
  return broken;
}

class Mixing {
 public:
  explicit Mixing(const MixSettings& settings) : settings_(settings), workers_(settings.threads) {
    if (settings.resumes && std::filesystem::exists(settings.table)) read_table();
  }

  Tally run() {
    std::vector<std::thread> threads;
    for (Worker& worker : workers_) threads.emplace_back([this, &worker] { work(worker); });
    watch();
    for (std::thread& thread : threads) thread.join();
    save();
    fmt::print("{} cases of seed {}, from {} to {}\n", next_ - settings_.first, settings_.seed, settings_.first,
               next_ - 1);
    return tally_;
  }

 private:
  struct Worker {
    std::atomic<std::int64_t> number = -1;
    std::atomic<double> began = 0.0, busy_before = 0.0;  // of the clock on the wall, and of the thread's own
    clockid_t clock = 0;
  };

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  static double busy_seconds(const Worker& worker) {
    timespec now = {};
    clock_gettime(worker.clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  [[nodiscard]] bool does_not_end(const Worker& worker) const {
    if (worker.number < 0) return false;
    return busy_seconds(worker) - worker.busy_before > kMostSeconds || seconds() - worker.began > kMostSecondsOnTheWall;
  }

  void work(Worker& worker) {
    pthread_getcpuclockid(pthread_self(), &worker.clock);
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (next_ >= settings_.first + settings_.runs || seconds() >= settings_.seconds) break;
        worker.began = seconds();
        worker.busy_before = busy_seconds(worker);
        worker.number = next_++;
      }
      const MixedCase asked = random_case(settings_.seed, worker.number);
      Tally tally;
      const std::vector<std::string> lines = broken_promises(asked, tally);
      if (!lines.empty()) report(worker, asked, lines);
      const std::lock_guard lock(mutex_);
      tally_.add(tally);
      worker.number = -1;
    }
  }

  void report(const Worker& worker, const MixedCase& asked, const std::vector<std::string>& lines) {
    const std::string file = file_of(worker.number);
    write_file_atomically(file, asked.text());  // making it smaller may take long
    for (const std::string& line : lines) fmt::print("case {}: {}\n", worker.number.load(), line);
    std::fflush(stdout);
    write_file_atomically(file, shrunk(asked).text());
  }
  [[nodiscard]] std::string file_of(std::int64_t number) const {
    return fmt::format("{}/mixed-{}-{}.case", settings_.out, settings_.seed, number);
  }

  // Until all are done; looks for cases that do not end.
  void watch() {
    double saved = seconds();
    while (true) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const std::lock_guard lock(mutex_);
      const bool is_over = next_ >= settings_.first + settings_.runs || seconds() >= settings_.seconds;
      const bool is_idle = std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.number < 0; });
      if (is_over && is_idle) return;
      for (const Worker& worker : workers_) {
        if (!does_not_end(worker)) continue;
        fmt::print("case {}: does not end\n", worker.number.load());
        write_file_atomically(file_of(worker.number), random_case(settings_.seed, worker.number).text());
        Tally::Count& count = tally_.promises["a run ends"];
        ++count.made;
        ++count.broken;
        save();
        std::fflush(stdout);
        std::_Exit(3);
      }
      if (seconds() - saved < 60.0) continue;
      saved = seconds();
      save();
    }
  }

  void save() const {
    if (settings_.table.empty()) return;
    std::string text = fmt::format("# mixer --seed {} --first {}; next {}\npromise,made,broken\n", settings_.seed,
                                   settings_.first, next_);
    for (const auto& [name, count] : tally_.promises) {
      text += fmt::format("\"{}\",{},{}\n", name, count.made, count.broken);
    }
    write_file_atomically(settings_.table, text);
  }

  void read_table() {
    std::istringstream lines(read_file(settings_.table));
    std::string line;
    std::getline(lines, line);
    const std::size_t next = line.find("next ");
    if (next == std::string::npos) throw Error(ErrorCode::kParse, "not a table of the mixer: " + settings_.table);
    next_ = settings_.first = std::stoll(line.substr(next + 5));
    for (std::getline(lines, line); std::getline(lines, line);) {
      const std::size_t end = line.rfind('"');
      std::istringstream numbers(line.substr(end + 2));
      Tally::Count count;
      char comma = 0;
      numbers >> count.made >> comma >> count.broken;
      tally_.promises[line.substr(1, end - 1)] = count;
    }
  }

  MixSettings settings_;
  std::vector<Worker> workers_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::int64_t next_ = settings_.first;
  Tally tally_;
};

// Intervals may miss: 1 - 0.95 of them, and five standard deviations more by chance.
bool misses_too_often(const Tally::Count& count) {
  const auto made = static_cast<double>(count.made);
  return static_cast<double>(count.broken) > 0.05 * made + 5.0 * std::sqrt(0.05 * 0.95 * made) + 2.0;
}

}  // namespace

Tally mix(const MixSettings& settings) { return Mixing(settings).run(); }

bool is_broken(const Tally& tally) {
  return std::any_of(tally.promises.begin(), tally.promises.end(), [](const auto& promise) {
    const auto& [name, count] = promise;
    return name.find("covers") != std::string::npos ? misses_too_often(count) : count.broken > 0;
  });
}

}  // namespace treesample::mixer
