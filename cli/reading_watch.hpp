// --time for what is read: while there is no model, there is nothing to answer.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace treesample::cli {

// Ends the program, with one line and the code for too little time, where it still reads a moment after these seconds;
// they count from its start. Nothing has been written then. Its own end is the end of reading.
class ReadingWatch {
 public:
  // The model's file is the first one; what is to be done with it is a word for the message. Without a limit, or where
  // all files are short and what is done with them is short, too, nothing is watched.
  ReadingWatch(const std::vector<std::string>& files, double seconds, const std::string& done = "read",
               bool is_short = true);
  ~ReadingWatch();
  ReadingWatch(const ReadingWatch&) = delete;
  ReadingWatch& operator=(const ReadingWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable is_read_;
  bool is_over_ = false;
  std::thread thread_;  // last, because it uses the others
};

}  // namespace treesample::cli
