// Starts a real redis-server on a unix socket in its own folder, for tests.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace treesample::testing {

// A child process. The destructor kills it unless it has been waited for.
class ChildProcess {
 public:
  template <typename Work>
  static ChildProcess run(const Work& work) {
    const pid_t pid = fork();
    if (pid == 0) {
      int code = 99;
      try {
        code = work();
      } catch (...) {
      }
      _exit(code);
    }
    return ChildProcess(pid);
  }
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~ChildProcess() { kill_now(); }

  void kill_now() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    wait();
  }
  // The exit code; -1 if the process was killed.
  int wait() {
    int status = 0;
    if (pid_ <= 0 || waitpid(std::exchange(pid_, -1), &status, 0) < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

class RedisServer {
 public:
  static bool is_installed() {
    return std::system("redis-server --version > /dev/null 2>&1") == 0;  // NOLINT: a fixed text
  }
  // There is no persistence, so a restarted server is empty.
  explicit RedisServer(const std::filesystem::path& folder, std::vector<std::string> more = {})
      : folder_(folder), more_(std::move(more)), process_(start()) {}

  [[nodiscard]] std::string address() const { return "unix:" + socket().string(); }
  void stop() { process_.kill_now(); }
  void restart() {
    std::filesystem::remove(socket());
    process_ = start();
  }

 private:
  [[nodiscard]] std::filesystem::path socket() const { return folder_ / "redis.sock"; }
  ChildProcess start() {
    std::filesystem::create_directories(folder_);
    ChildProcess process = ChildProcess::run([this] {
      const int null = open("/dev/null", O_RDWR);
      dup2(null, 1);
      dup2(null, 2);
      std::vector<std::string> words = {
          "redis-server", "--port", "0",     "--unixsocket",  socket().string(), "--save", "",
          "--appendonly", "no",     "--dir", folder_.string()};
      words.insert(words.end(), more_.begin(), more_.end());
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execvp("redis-server", arguments.data());
      return 98;
    });
    for (int i = 0; i < 500 && !std::filesystem::exists(socket()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return process;
  }

  std::filesystem::path folder_;
  std::vector<std::string> more_;
  ChildProcess process_;
};

}  // namespace treesample::testing
