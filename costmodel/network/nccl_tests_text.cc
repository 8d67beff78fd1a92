// Reads the text that nccl-tests prints: comments, a header line, and a row for each size.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "costmodel/network/nccl_tests_output.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view kNoRoot = "-1";

std::string_view WithoutTag(std::string_view line) {
  constexpr std::string_view kEnd = "<stdout>:";
  const size_t end = line.find(kEnd);
  return line.starts_with('[') && end != std::string_view::npos ? line.substr(end + kEnd.size())
                                                                : line;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NcclTestsOutput Read() {
    while (NextLine()) {
      const Words words = SplitWords(line_);
      if (words.empty() || ReadNcclsOwn(words)) continue;
      if (words[0] == "#") {
        ReadComment(words);
      } else if (!header_.empty()) {
        ReadRow(words);
      } else {
        Fail("line", line_,
             "nccl-tests' header (\"# size count type ... time algbw busbw\") first");
      }
    }
    if (header_.empty() && output_.log.ranks.empty()) Fail("file", line_, "a log of nccl-tests");
    return std::move(output_);
  }

 private:
  std::string Place() const { return fmt::format("{}:{}", path_, line_number_); }

  [[noreturn]] void Fail(std::string_view key, std::string_view got, std::string_view want) const {
    FailNcclTests(Place(), key, got, want);
  }

  bool NextLine() {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = WithoutTag(text_.substr(at_, end - at_));
    at_ = end + 1;
    ++line_number_;
    return true;
  }

  // Reads a line that NCCL_DEBUG makes the library print among the test's own lines, and returns
  // whether it is one: "NCCL version 2.21.5+cuda12.4", "node0:4242:4242 [0] NCCL INFO ...".
  bool ReadNcclsOwn(const Words& words) {
    const auto nccl = std::find(words.begin(), words.end(), "NCCL");
    if (words.end() - nccl < 2) return false;
    const std::string_view next = *(nccl + 1);
    if (next == "version" && words.end() - nccl > 2) {
      const std::string_view version = *(nccl + 2);
      output_.log.software = fmt::format("nccl-{}", version.substr(0, version.find('+')));
    }
    return next == "version" || next == "INFO" || next == "WARN" || next == "TRACE";
  }

  void ReadComment(const Words& words) {
    if (words.size() > 2 && words[1] == "size" && words[2] == "count") {
      header_ = Words(words.begin() + 1, words.end());
      for (const std::string_view column : {"time", "algbw", "busbw"}) ColumnOf(column);
    } else if (words.size() > 2 && words[1] == "Rank") {
      ReadRank(words);
    } else if (words.size() > 4 && words[1] == "nThread" && words[3] == "nGpus") {
      output_.gpus_per_process = Count("nThread", words[2]) * Count("nGpus", words[4]);
    }
  }

  int Count(std::string_view name, std::string_view word) const {
    double value = 0;
    if (!ReadNcclTestsNumber(word, 1, kMostGpusPerProcess, &value) || value != int(value)) {
      Fail(name, word, fmt::format("a whole number from 1 to {}", kMostGpusPerProcess));
    }
    return static_cast<int>(value);
  }

  // "# Rank  0 [Group  0] Pid  42 on HOST device  0 [0x00] NAME"
  void ReadRank(const Words& words) {
    std::vector<NcclTestsLog::Rank>& ranks = output_.log.ranks;
    if (words[2] != fmt::format("{}", ranks.size())) {
      Fail("rank", words[2], fmt::format("{}, the one after", ranks.size()));
    }
    const auto on = std::find(words.begin(), words.end(), "on");
    const auto device = std::find(words.begin(), words.end(), "device");
    if (words.end() - on < 2 || words.end() - device < 3) {
      Fail("rank", line_, "Rank N Pid N on HOST device N [BUS] NAME");
    }
    std::string name;
    for (auto word = device + 2; word != words.end(); ++word) {
      if (word->starts_with('[') || word->ends_with(']')) continue;
      name += (name.empty() ? "" : " ") + std::string(*word);
    }
    ranks.push_back({std::string(*(on + 1)), name});
  }

  size_t ColumnOf(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) Fail("header", line_, fmt::format("a column {}", name));
    return found - header_.begin();
  }

  double NumberIn(const Words& words, std::string_view column, double least, double most,
                  std::string_view want) const {
    const std::string_view word = words[ColumnOf(column)];
    double value = 0;
    if (!ReadNcclTestsNumber(word, least, most, &value)) Fail(column, word, want);
    return value;
  }

  // Returns the word in a column; empty if the header has no such column.
  std::string_view WordIn(const Words& words, std::string_view column) const {
    const auto found = std::find(header_.begin(), header_.end(), column);
    return found == header_.end() ? std::string_view() : words[found - header_.begin()];
  }

  void ReadRow(const Words& words) {
    if (words.size() < header_.size()) {
      Fail("row", line_, fmt::format("{} columns, as the header has", header_.size()));
    }
    const double bytes = NumberIn(words, "size", 0, kMostNcclTestsBytes, "a number of bytes");
    const double time = NumberIn(words, "time", kLeastNcclTestsMicroseconds,
                                 kMostNcclTestsMicroseconds, "microseconds > 0");
    const double algorithm = NumberIn(words, "algbw", 0, kMostNcclTestsGbPerS, "GB/s");
    const double bus = NumberIn(words, "busbw", 0, kMostNcclTestsGbPerS, "GB/s");
    const std::string_view redop = WordIn(words, "redop");
    const std::string_view root = WordIn(words, "root");
    const bool has_root = !root.empty() && root != kNoRoot;
    const bool reduces = !redop.empty() && redop != "none" && !has_root;
    AddNcclTestsRow(bytes, time, WordIn(words, "type"), {Place(), algorithm, bus, reduces},
                    &output_);
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  int line_number_ = 0;
  std::string_view line_;
  Words header_;
  NcclTestsOutput output_;
};

}  // namespace

NcclTestsOutput ReadNcclTestsText(std::string_view text, const std::string& path) {
  return Reader(text, path).Read();
}

}  // namespace stagecraft
