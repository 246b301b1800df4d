#include "case_table.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "treesample/io/csv.hpp"
#include "treesample/io/file.hpp"
#include "treesample/page/answer_json.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

constexpr std::size_t kPortion = std::size_t{1} << 18;  // bytes that are written at a time

}  // namespace

CaseTable::CaseTable(std::string file, bool goes_on) : file_(std::move(file)) {
  if (file_.empty()) return;
  std::error_code none;
  const bool is_special = std::filesystem::exists(file_, none) && !std::filesystem::is_regular_file(file_, none);
  if (!is_special) partial_ = file_ + ".partial";
  if (goes_on && !is_special) {
    read_kept(std::filesystem::exists(partial_, none) ? partial_ : file_);
  } else if (!is_special) {
    std::filesystem::remove(partial_, none);
  }
  out_.open(is_special ? file_ : partial_, std::ios::binary | std::ios::app);
  if (!out_)
    throw Error(ErrorCode::kWrite, fmt::format("{}: cannot be written", printable(is_special ? file_ : partial_)));
}

// Rows up to the last one that is complete; the rest is cut off.
void CaseTable::read_kept(const std::string& from) {
  if (!std::filesystem::exists(from)) return;
  const std::string text = read_file(from);
  CsvReader reader(text, from);
  CsvRow row;
  std::size_t end = 0, num_fields = 0;
  try {
    while (reader.next(row) && reader.position() <= text.size() && text[reader.position() - 1] == '\n') {
      if (!has_columns_) {
        has_columns_ = true;
        num_fields = row.fields.size();
        first_line_ = text.substr(0, reader.position());
        if (row.fields.front() != "case") throw Error(ErrorCode::kParse, fmt::format("{}: is no table of cases", from));
      } else {
        if (row.fields.size() != num_fields) break;
        labels_.push_back(row.fields.front());
      }
      end = reader.position();
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kParse || labels_.empty()) throw;
  }
  num_rows_ = labels_.size();
  write_file_atomically(partial_, text.substr(0, end));
}

void CaseTable::check_kept(std::size_t index, const Case& now) const {
  if (labels_[index] == now.label) return;
  throw Error(ErrorCode::kArgument,
              fmt::format("--cases-go-on: row {} of {} is about case '{}', and case {} of --cases is '{}'", index + 1,
                          printable(file_), printable(labels_[index]), index + 1, printable(now.label)));
}

void CaseTable::add(const std::string& label, const Answer& answer, const Model& model) {
  const bool is_first = num_rows_ == labels_.size();  // of this run
  const std::vector<AnswerCell> cells = answer_cells(answer, model, is_first);
  std::vector<std::string> values = {label};
  for (const AnswerCell& cell : cells) values.push_back(cell.value);
  if (is_first) {
    std::vector<std::string> names = {"case"};
    for (const AnswerCell& cell : cells) names.push_back(cell.column);
    const std::string line = csv_line(names);
    if (has_columns_ && line != first_line_) {
      throw Error(ErrorCode::kArgument,
                  fmt::format("--cases-go-on: {} has other columns than this run", printable(file_)));
    }
    if (!has_columns_) text_ += line;
    has_columns_ = true;
  }
  ++num_rows_;
  text_ += csv_line(values);
  if (text_.size() >= kPortion) write_portion();
}

void CaseTable::write_portion() {
  if (file_.empty() || unwritten_) {
    fmt::print("{}", text_);
  } else {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    out_.flush();
    if (!out_) return give_up_file("the disk may be full");
  }
  text_.clear();
}

// What the file has already is shown, and so is all that follows.
void CaseTable::give_up_file(const std::string& why) {
  unwritten_.emplace(ErrorCode::kWrite, fmt::format("{}: cannot be written: {}", file_, why));
  out_.close();
  if (!partial_.empty()) {
    std::error_code none;
    std::filesystem::remove(partial_, none);
  }
  fmt::print("{}", text_);
  text_.clear();
}

void CaseTable::finish() {
  write_portion();
  if (!file_.empty() && !unwritten_) {
    out_.close();
    std::error_code failed;
    if (!partial_.empty()) std::filesystem::rename(partial_, std::filesystem::weakly_canonical(file_), failed);
    if (failed) give_up_file(failed.message());
  }
  if (unwritten_) throw Error(*unwritten_);
}

}  // namespace treesample::cli
