#include "costmodel/network/nccl_tests_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "costmodel/network/nccl_tests_output.h"
#include "costmodel/network/network_sample.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

// The first kilobytes distinguish a log from other text.
constexpr size_t kHeadBytes = 16 << 10;
constexpr size_t kShown = 60;
// Times are printed with four digits, bandwidths with two decimals.
constexpr double kRelativeRounding = 0.01;
constexpr double kAbsoluteRounding = 0.006;
constexpr double kGiga = 1e9;

constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"half", "fp16"}, {"float", "fp32"}, {"double", "fp64"}, {"bfloat16", "bf16"}};

bool Agrees(double printed, double value) {
  return std::abs(printed - value) <= kAbsoluteRounding + kRelativeRounding * value;
}

void CheckComplete(NcclTestsOutput* output, const std::string& path) {
  NcclTestsLog& log = output->log;
  if (log.ranks.empty()) FailNcclTests(path, "devices", "none", "every rank's host and GPU");
  const size_t per_process = static_cast<size_t>(output->gpus_per_process);
  // A process lists the GPUs that it drives. If a list is cut short, its missing GPUs are on the
  // same node.
  while (log.ranks.size() < per_process) log.ranks.push_back(log.ranks.back());
  if (log.ranks.size() % per_process != 0) {
    FailNcclTests(path, "devices", fmt::format("{} ranks", log.ranks.size()),
                  fmt::format("a multiple of the {} of each process", per_process));
  }
  if (log.rows.empty()) FailNcclTests(path, "rows", "none", "at least one size");
}

// Returns the collective whose word or program the name contains; no value if there is none. Throws
// if there are several.
std::optional<OpKind> KindIn(const std::string& name, const std::string& path) {
  std::optional<OpKind> found;
  for (const auto& collective : Collectives()) {
    const bool is_in_name =
        name.find(collective.word) != name.npos || name.find(collective.nccl_tests) != name.npos;
    if (!is_in_name) continue;
    if (found) FailNcclTests(path, "collective", name, "the name of one, or given");
    found = collective.kind;
  }
  return found;
}

// Returns the collective that leaves sums on all ranks and has the ratio busbw / algbw of the last
// row, which is the most precise; no value if none or several have it.
std::optional<OpKind> KindOfBandwidths(const NcclTestsOutput& output) {
  const NcclTestsOutput::Printed& last = output.printed.back();
  if (!last.reduces) return std::nullopt;
  // On one rank every collective is a copy in memory.
  if (output.log.ranks.size() == 1) return OpKind::kAllReduce;
  std::optional<OpKind> found;
  for (const Collective& collective : Collectives()) {
    if (!collective.reduces || collective.after == Holding::kOne) continue;
    const double factor = collective.BusFactor(static_cast<int>(output.log.ranks.size()));
    if (!Agrees(last.bus_gb_per_s, factor * last.algorithm_gb_per_s)) continue;
    if (found) return std::nullopt;
    found = collective.kind;
  }
  return found;
}

OpKind GuessKind(const NcclTestsOutput& output, const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  for (const std::string& name : {output.program, file}) {
    if (const std::optional<OpKind> kind = KindIn(name, path)) return *kind;
  }
  if (const std::optional<OpKind> kind = KindOfBandwidths(output)) return *kind;
  FailNcclTests(path, "collective", file,
                "its name in the name of the file (all_gather_perf.log), or given");
}

void CheckBandwidths(const NcclTestsOutput& output) {
  const NcclTestsLog& log = output.log;
  const int ranks = static_cast<int>(log.ranks.size());
  for (size_t i = 0; i < log.rows.size(); ++i) {
    const NcclTestsOutput::Printed& printed = output.printed[i];
    const double bytes = static_cast<double>(log.rows[i].bytes.count());
    const double algorithm = bytes / log.rows[i].time.seconds() / kGiga;
    const double bus = CollectiveOf(log.kind).BusFactor(ranks) * algorithm;
    if (!Agrees(printed.algorithm_gb_per_s, algorithm)) {
      FailNcclTests(printed.place, "algbw", fmt::format("{}", printed.algorithm_gb_per_s),
                    fmt::format("{:.2f}, size over time", algorithm));
    }
    if (!Agrees(printed.bus_gb_per_s, bus)) {
      FailNcclTests(printed.place, "busbw", fmt::format("{}", printed.bus_gb_per_s),
                    fmt::format("{:.2f}, as {} over {} ranks has", bus, Name(log.kind), ranks));
    }
  }
}

// Whether the beginning of a JSON object has the key itself, and not only in an object inside it:
// PyTorch's traces name NCCL's version, too.
bool HasTopLevelKey(std::string_view head, std::string_view key) {
  int depth = 0;
  for (size_t at = 0; at < head.size(); ++at) {
    if (depth == 1 && head.substr(at).starts_with(key)) return true;
    depth += head[at] == '{' || head[at] == '[' ? 1 : 0;
    depth -= head[at] == '}' || head[at] == ']' ? 1 : 0;
  }
  return false;
}

bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

}  // namespace

void FailNcclTests(const std::string& place, std::string_view key, std::string_view got,
                   std::string_view want) {
  throw InputError(
      fmt::format("{}: {}: got \"{}\", want {}", place, key, got.substr(0, kShown), want));
}

bool ReadNcclTestsNumber(std::string_view word, double least, double most, double* value) {
  const std::optional<double> number = ParseNumber<double>(word);
  if (!number || !(*number >= least && *number <= most)) return false;
  *value = *number;
  return true;
}

void AddNcclTestsRow(double size, double microseconds, std::string_view type,
                     const NcclTestsOutput::Printed& printed, NcclTestsOutput* output) {
  if (size < 1) return;
  NcclTestsLog& log = output->log;
  const Bytes bytes(std::llround(size));
  if (!log.rows.empty() && bytes <= log.rows.back().bytes) {
    FailNcclTests(printed.place, "size", fmt::format("{}", bytes.count()),
                  "more bytes than in the row before");
  }
  for (const auto& [word, name] : kTypes) {
    if (type == word) type = name;
  }
  log.dtype = type;
  log.rows.push_back({bytes, Duration::Seconds(microseconds * 1e-6)});
  output->printed.push_back(printed);
}

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
  NcclTestsOutput output =
      IsJson(text) ? ReadNcclTestsJson(text, path) : ReadNcclTestsText(text, path);
  CheckComplete(&output, path);
  output.log.kind = kind ? *kind : GuessKind(output, path);
  CheckBandwidths(output);
  return std::move(output.log);
}

bool IsNcclTestsLog(std::string_view text) {
  const std::string_view head = text.substr(0, kHeadBytes);
  if (IsJson(text)) return HasTopLevelKey(head, "\"nccl_version\"");
  return head.find("# nThread ") != std::string_view::npos ||
         head.find("# Using devices") != std::string_view::npos;
}

}  // namespace stagecraft
