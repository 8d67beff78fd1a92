#include "costmodel/network/nccl_tests_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/network/network_sample.h"
#include "costmodel/proto_file.h"

namespace stagecraft {
namespace {

using Words = std::vector<std::string_view>;

// The first kilobytes tell a log from other text.
constexpr size_t kHeadBytes = 16 << 10;
constexpr size_t kShown = 60;
constexpr int64_t kMostGpus = 1024;  // of one process
constexpr double kMostBytes = 1e15;
constexpr double kMostMicroseconds = 1e12;
// Times are printed with four digits, bandwidths with two decimals.
constexpr double kRelativeRounding = 0.01;
constexpr double kAbsoluteRounding = 0.006;
constexpr double kGiga = 1e9;

constexpr std::pair<std::string_view, OpKind> kNames[] = {
    {"all_reduce", OpKind::kAllReduce},
    {"all_gather", OpKind::kAllGather},
    {"reduce_scatter", OpKind::kReduceScatter},
    {"alltoall", OpKind::kAllToAll},
    {"all_to_all", OpKind::kAllToAll},
    {"broadcast", OpKind::kBroadcast},
    {"sendrecv", OpKind::kSendRecv},
    {"send_recv", OpKind::kSendRecv}};

Words Split(std::string_view line) {
  Words words;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

std::string_view WithoutTag(std::string_view line) {
  constexpr std::string_view kEnd = "<stdout>:";
  const size_t end = line.find(kEnd);
  return line.starts_with('[') && end != std::string_view::npos ? line.substr(end + kEnd.size())
                                                                : line;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NcclTestsLog Read(std::optional<OpKind> kind) {
    while (NextLine()) {
      const Words words = Split(line_);
      if (words.empty()) continue;
      if (words[0] == "#") {
        ReadComment(words);
      } else if (!header_.empty()) {
        ReadRow(words);
      } else {
        Fail("line", line_,
             "nccl-tests' header (\"# size count type ... time algbw busbw\") first");
      }
    }
    CheckComplete();
    log_.kind = kind ? *kind : GuessKind();
    CheckBandwidths();
    return std::move(log_);
  }

 private:
  struct Printed {
    int line;
    double algorithm_gb_per_s, bus_gb_per_s;
    bool reduces;
  };

  [[noreturn]] void Fail(std::string_view key, std::string_view got, std::string_view want) const {
    throw InputError(fmt::format("{}:{}: {}: got \"{}\", want {}", path_, line_number_, key,
                                 got.substr(0, kShown), want));
  }

  bool NextLine() {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = WithoutTag(text_.substr(at_, end - at_));
    at_ = end + 1;
    ++line_number_;
    return true;
  }

  void ReadComment(const Words& words) {
    if (words.size() > 2 && words[1] == "size" && words[2] == "count") {
      header_ = Words(words.begin() + 1, words.end());
      for (const std::string_view column : {"time", "algbw", "busbw"}) ColumnOf(column);
    } else if (words.size() > 2 && words[1] == "Rank") {
      ReadRank(words);
    } else if (words.size() > 4 && words[1] == "nThread" && words[3] == "nGpus") {
      header_ = words;
      ranks_per_process_ = static_cast<size_t>(Count("nGpus") * Count("nThread"));
      header_.clear();
    }
  }

  // Of the line "# nThread 1 nGpus 8 ...".
  int64_t Count(std::string_view name) const {
    const std::string_view word = header_[ColumnOf(name) + 1];
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1 ||
        value > kMostGpus) {
      Fail(name, word, fmt::format("a whole number from 1 to {}", kMostGpus));
    }
    return value;
  }

  // "# Rank  0 [Group  0] Pid  42 on HOST device  0 [0x00] NAME"
  void ReadRank(const Words& words) {
    if (words[2] != fmt::format("{}", log_.ranks.size())) {
      Fail("rank", words[2], fmt::format("{}, the one after", log_.ranks.size()));
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
    log_.ranks.push_back({std::string(*(on + 1)), name});
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
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !(value >= least) ||
        !(value <= most)) {
      Fail(column, word, want);
    }
    return value;
  }

  void ReadRow(const Words& words) {
    if (words.size() < header_.size()) {
      Fail("row", line_, fmt::format("{} columns, as the header has", header_.size()));
    }
    const double bytes = NumberIn(words, "size", 0, kMostBytes, "a number of bytes");
    const double time = NumberIn(words, "time", 1e-3, kMostMicroseconds, "microseconds > 0");
    const double algorithm = NumberIn(words, "algbw", 0, 1e9, "GB/s");
    const double bus = NumberIn(words, "busbw", 0, 1e9, "GB/s");
    if (bytes < 1) return;
    if (!log_.rows.empty() && Bytes(std::llround(bytes)) <= log_.rows.back().bytes) {
      Fail("size", words[ColumnOf("size")], "more bytes than in the row before");
    }
    const auto redop = std::find(header_.begin(), header_.end(), "redop");
    const bool reduces = redop != header_.end() && words[redop - header_.begin()] != "none";
    log_.rows.push_back({Bytes(std::llround(bytes)), Duration::Seconds(time * 1e-6)});
    printed_.push_back({line_number_, algorithm, bus, reduces});
  }

  void CheckComplete() {
    if (header_.empty() && log_.ranks.empty()) Fail("file", line_, "a log of nccl-tests");
    if (log_.ranks.empty()) Fail("devices", "none", "a line \"# Rank 0 ...\" for every rank");
    // One process lists the GPUs that it drives; lists cut short are of one node.
    while (log_.ranks.size() < ranks_per_process_) log_.ranks.push_back(log_.ranks.back());
    if (log_.rows.empty()) Fail("rows", "none", "at least one size");
  }

  // By name, or by busbw / algbw of the last row, the most precise.
  OpKind GuessKind() const {
    const std::string name = std::filesystem::path(path_).filename().string();
    for (const auto& [word, kind] : kNames) {
      if (name.find(word) != std::string::npos) return kind;
    }
    const int ranks = static_cast<int>(log_.ranks.size());
    const Printed& last = printed_.back();
    if (last.reduces) {
      for (const OpKind kind : {OpKind::kAllReduce, OpKind::kReduceScatter}) {
        if (Agrees(last.bus_gb_per_s, BusFactor(kind, ranks) * last.algorithm_gb_per_s))
          return kind;
      }
    }
    Fail("collective", name, "its name in the name of the file (all_gather_perf.log), or given");
  }

  static bool Agrees(double printed, double value) {
    return std::abs(printed - value) <= kAbsoluteRounding + kRelativeRounding * value;
  }

  void CheckBandwidths() {
    const int ranks = static_cast<int>(log_.ranks.size());
    for (size_t i = 0; i < printed_.size(); ++i) {
      const NcclTestsLog::Row& row = log_.rows[i];
      const double algorithm = static_cast<double>(row.bytes.count()) / row.time.seconds() / kGiga;
      const double bus = BusFactor(log_.kind, ranks) * algorithm;
      line_number_ = printed_[i].line;
      if (!Agrees(printed_[i].algorithm_gb_per_s, algorithm)) {
        Fail("algbw", fmt::format("{}", printed_[i].algorithm_gb_per_s),
             fmt::format("{:.2f}, size over time", algorithm));
      }
      if (!Agrees(printed_[i].bus_gb_per_s, bus)) {
        Fail("busbw", fmt::format("{}", printed_[i].bus_gb_per_s),
             fmt::format("{:.2f}, as {} over {} ranks has", bus, Name(log_.kind), ranks));
      }
    }
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  int line_number_ = 0;
  std::string_view line_;
  Words header_;
  size_t ranks_per_process_ = 1;
  NcclTestsLog log_;
  std::vector<Printed> printed_;
};

}  // namespace

std::vector<int> NcclTestsLog::RanksByHost() const {
  std::vector<int> counts;
  std::map<std::string, size_t> index;
  for (const Rank& rank : ranks) {
    const size_t host = index.emplace(rank.host, counts.size()).first->second;
    if (host == counts.size()) counts.push_back(0);
    ++counts[host];
  }
  return counts;
}

NcclTestsLog ParseNcclTestsLog(std::string_view text, const std::string& path,
                               std::optional<OpKind> kind) {
  return Reader(text, path).Read(kind);
}

NcclTestsLog ReadNcclTestsLog(const std::string& path, std::optional<OpKind> kind) {
  return ParseNcclTestsLog(ReadFile(path), path, kind);
}

bool IsNcclTestsLog(std::string_view text) {
  const std::string_view head = text.substr(0, kHeadBytes);
  return head.find("# nThread ") != std::string_view::npos ||
         head.find("# Using devices") != std::string_view::npos;
}

}  // namespace stagecraft
