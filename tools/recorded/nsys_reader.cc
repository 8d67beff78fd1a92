#include "tools/recorded/nsys_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "costmodel/check.h"
#include "tools/recorded/kernel_names.h"
#include "tools/recorded/nsys_ranges.h"
#include "tools/recorded/sqlite_rows.h"

namespace stagecraft {
namespace {

constexpr const char* kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr std::string_view kMagic = "SQLite format 3";
// Both ids hold a process and a thread: globalPid and globalTid of the exported schema.
constexpr int64_t kThreads = 0x1000000;
int64_t ProcessOf(int64_t global) { return global / kThreads % kThreads; }

constexpr int kPushPopRange = 59, kStartEndRange = 60;  // NvtxEventType

class NsysReader {
 public:
  explicit NsysReader(const std::string& path) : file_(path) {}

  std::vector<Recording> Read() {
    if (file_.Columns(kKernelTable).empty()) {
      throw InputError(
          fmt::format("{}: {}: got no such table, want an export of Nsight Systems "
                      "that traced CUDA",
                      file_.path(), kKernelTable));
    }
    CheckColumns();
    ReadStrings();
    ReadKernels();
    ReadCopies();
    ReadLaunches();
    ReadRanges();
    ReadGpus();
    return Finish();
  }

 private:
  bool Has(const char* table) const { return !file_.Columns(table).empty(); }

  void CheckColumns() const {
    const std::vector<std::string> columns = file_.Columns(kKernelTable);
    for (const char* wanted : {"start", "end", "deviceId", "streamId"}) {
      if (std::find(columns.begin(), columns.end(), wanted) != columns.end()) continue;
      throw InputError(fmt::format("{}: {}: got no column {}, want one (columns: {})", file_.path(),
                                   kKernelTable, wanted, fmt::join(columns, ", ")));
    }
  }

  void ReadStrings() {
    if (!Has("StringIds")) return;
    SqliteRows rows(file_, "StringIds", {"id", "value"});
    while (rows.Next()) strings_.emplace(rows.Integer(0), rows.Text(1));
  }

  const std::string& StringOf(int64_t id) const {
    static const std::string unnamed = "(unnamed)";
    const auto found = strings_.find(id);
    return found == strings_.end() ? unnamed : found->second;
  }

  Recording& Of(int64_t process) {
    const auto [found, is_new] = processes_.try_emplace(process);
    if (is_new) {
      found->second.file = file_.path();
      found->second.profiler = "nsys";
      found->second.has_types = false;
    }
    return found->second;
  }

  void Add(int64_t process, RecordedKernel kernel, std::string_view name) {
    if (kernel.start_ns < 0 || kernel.end_ns > kMostTraceNs) {
      throw InputError(fmt::format("{}: kernel {}: got it from {} to {} ns, want 0 to {}",
                                   file_.path(), name, kernel.start_ns, kernel.end_ns,
                                   kMostTraceNs));
    }
    if (kernel.end_ns < kernel.start_ns) {
      throw InputError(fmt::format("{}: kernel {}: got an end of {} ns before its start at {} ns",
                                   file_.path(), name, kernel.end_ns, kernel.start_ns));
    }
    Recording& recording = Of(process);
    kernel.name = recording.names.Intern(name);
    recording.kernels.push_back(kernel);
  }

  void ReadKernels() {
    SqliteRows rows(file_, kKernelTable,
                    {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                     "demangledName", "shortName"});
    while (rows.Next()) {
      const std::string& name = StringOf(rows.Integer(rows.IsNull(6) ? 7 : 6));
      RecordedKernel kernel = KernelOf(rows);
      kernel.kind = ClassOfKernel(name);
      if (kernel.kind == KernelClass::kOther) {
        kernel.kind = ClassOfKernel(StringOf(rows.Integer(7)));
      }
      Add(ProcessOf(rows.Integer(5)), kernel, name);
    }
  }

  static RecordedKernel KernelOf(const SqliteRows& rows) {
    RecordedKernel kernel;
    kernel.start_ns = rows.Integer(0);
    kernel.end_ns = rows.Integer(1);
    kernel.device = static_cast<int32_t>(rows.Integer(2));
    kernel.stream = static_cast<int32_t>(rows.Integer(3));
    if (!rows.IsNull(4)) kernel.correlation = rows.Integer(4);
    return kernel;
  }

  void ReadCopies() {
    constexpr std::array<std::pair<const char*, const char*>, 2> kTables = {{
        {"CUPTI_ACTIVITY_KIND_MEMCPY", "Memcpy"},
        {"CUPTI_ACTIVITY_KIND_MEMSET", "Memset"},
    }};
    for (const auto& [table, name] : kTables) {
      if (!Has(table)) continue;
      SqliteRows rows(file_, table,
                      {"start", "end", "deviceId", "streamId", "correlationId", "globalPid"});
      while (rows.Next()) {
        RecordedKernel kernel = KernelOf(rows);
        kernel.kind = KernelClass::kCopy;
        Add(ProcessOf(rows.Integer(5)), kernel, name);
      }
    }
  }

  void ReadLaunches() {
    constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!Has(kTable)) return;
    SqliteRows rows(file_, kTable, {"start", "globalTid", "correlationId"});
    while (rows.Next()) {
      const auto found = processes_.find(ProcessOf(rows.Integer(1)));
      if (found == processes_.end() || rows.IsNull(2)) continue;
      found->second.launches.push_back({rows.Integer(2), rows.Integer(1), rows.Integer(0)});
    }
  }

  void ReadRanges() {
    if (!Has("NVTX_EVENTS")) return;
    SqliteRows rows(
        file_, "NVTX_EVENTS",
        {"start", "end", "eventType", "text", "textId", "globalTid", "jsonText", "jsonTextId"});
    std::map<int64_t, NsysRanges> ranges;  // by process
    while (rows.Next()) {
      const int64_t type = rows.Integer(2);
      const bool is_range = type == kPushPopRange || type == kStartEndRange;
      const auto found = processes_.find(ProcessOf(rows.Integer(5)));
      if (!is_range || rows.IsNull(1) || found == processes_.end()) continue;
      RecordedSlice slice;
      slice.start_ns = rows.Integer(0);
      slice.end_ns = rows.Integer(1);
      slice.thread = rows.Integer(5);
      const auto text = [&](int own, int id) {
        return rows.IsNull(own) ? std::string_view(StringOf(rows.Integer(id))) : rows.Text(own);
      };
      const bool has_payload = !rows.IsNull(6) || !rows.IsNull(7);
      ranges[found->first].Take(slice, text(3, 4), has_payload ? text(6, 7) : "", found->second);
    }
    for (auto& [process, taken] : ranges) taken.Finish(processes_[process]);
  }

  void ReadGpus() {
    if (!Has("TARGET_INFO_GPU")) return;
    SqliteRows rows(file_, "TARGET_INFO_GPU", {"id", "name"});
    while (rows.Next()) {
      for (auto& [process, recording] : processes_) {
        recording.devices[static_cast<int32_t>(rows.Integer(0))] = rows.Text(1);
      }
    }
  }

  std::vector<Recording> Finish() {
    if (processes_.empty()) {
      throw InputError(
          fmt::format("{}: {}: got no rows, want kernels", file_.path(), kKernelTable));
    }
    std::vector<Recording> recordings;
    for (auto& [process, recording] : processes_) recordings.push_back(std::move(recording));
    return recordings;
  }

  SqliteFile file_;
  std::unordered_map<int64_t, std::string> strings_;
  std::map<int64_t, Recording> processes_;
};

}  // namespace

bool IsSqliteFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kMagic.size()> begin{};
  file.read(begin.data(), begin.size());
  return file && std::string_view(begin.data(), begin.size()) == kMagic;
}

std::vector<Recording> ReadNsys(const std::string& path) {
  if (!IsSqliteFile(path)) {
    throw InputError(path +
                     ": cannot be read as an SQLite database, want what nsys export --type sqlite "
                     "wrote");
  }
  return NsysReader(path).Read();
}

}  // namespace stagecraft
