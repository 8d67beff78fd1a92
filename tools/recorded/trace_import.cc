#include "tools/recorded/trace_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/recorded/chakra_reader.h"
#include "tools/recorded/kernel_places.h"
#include "tools/recorded/kineto_reader.h"
#include "tools/recorded/nccl_groups.h"
#include "tools/recorded/nsys_reader.h"

namespace stagecraft {
namespace {

constexpr double kPercent = 100;

std::vector<Recording> Read(const TraceImport& wish) {
  std::vector<Recording> recordings;
  std::set<std::string> read;
  for (const std::string& file : wish.files) {
    if (!read.insert(file).second) {
      throw InputError(file + ": given twice, want it once");
    }
    switch (wish.format) {
      case TraceFormat::kKineto:
        recordings.push_back(ReadKineto(file, wish.cut_off));
        break;
      case TraceFormat::kChakra:
        recordings.push_back(ReadChakra(file, wish.cut_off));
        break;
      case TraceFormat::kNsys:
        for (Recording& process : ReadNsys(file)) recordings.push_back(std::move(process));
        break;
    }
  }
  for (Recording& recording : recordings) PlaceKernels(recording);
  return recordings;
}

struct ClassSum {
  int64_t kernels = 0;
  Duration time, waits;
};

std::array<ClassSum, kKernelClassCount> SumByClass(const TimelineRecord& record) {
  std::array<ClassSum, kKernelClassCount> sums;
  for (TaskId task = 0; task < record.schedule.task_count(); ++task) {
    const TracedKernel& kernel = record.kernels->kernels[task];
    ClassSum& sum = sums[static_cast<int>(kernel.kind)];
    ++sum.kernels;
    sum.time += record.timeline.end(task) - record.timeline.start(task);
    sum.waits += kernel.waits;
  }
  return sums;
}

// Says which kernels belong to no class, the longest first.
void NoteOthers(const TimelineRecord& record, Args& notes) {
  constexpr size_t kNamed = 3;
  std::map<int32_t, Duration> by_name;
  int64_t kernels = 0;
  Duration others, all;
  for (TaskId task = 0; task < record.schedule.task_count(); ++task) {
    const TracedKernel& kernel = record.kernels->kernels[task];
    const Duration time = record.timeline.end(task) - record.timeline.start(task);
    all += time;
    if (kernel.kind != KernelClass::kOther) continue;
    ++kernels;
    others += time;
    by_name[kernel.name] += time;
  }
  if (kernels == 0) return;
  std::vector<std::pair<Duration, int32_t>> longest;
  for (const auto& [name, time] : by_name) longest.emplace_back(time, name);
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Args names;
  for (size_t i = 0; i < std::min(kNamed, longest.size()); ++i) {
    names.push_back(record.kernels->names[longest[i].second]);
  }
  notes.push_back(fmt::format("{} kernels, {:.1f} % of the time, are of no known class: {}{}",
                              kernels, kPercent * others.seconds() / std::max(all.seconds(), 1e-12),
                              fmt::join(names, ", "), longest.size() > kNamed ? ", ..." : ""));
}

void NoteUnplaced(const MeasuredTimeline& timeline, Args& notes) {
  if (timeline.outside_of_steps > 0) {
    notes.push_back(
        fmt::format("{} of {} recorded kernels are outside of all marked steps and left "
                    "out",
                    timeline.outside_of_steps, timeline.all_kernels));
  }
  const auto& kernels = timeline.record.kernels->kernels;
  const auto count = [&](auto is) { return std::count_if(kernels.begin(), kernels.end(), is); };
  const auto no_phase = count([](const TracedKernel& kernel) { return !kernel.has_phase; });
  const auto no_layer = count([](const TracedKernel& kernel) { return kernel.layer < 0; });
  if (no_phase > 0) {
    notes.push_back(
        fmt::format("no name around {} of {} kernels tells their phase, and around {} "
                    "their layer",
                    no_phase, kernels.size(), no_layer));
  }
}

}  // namespace

ImportedTrace ImportTraces(const TraceImport& wish) {
  if (wish.wants_collectives && wish.cluster.empty()) {
    throw InputError(
        "--cluster: got none with --collectives, want the cluster on which the "
        "traces were taken");
  }
  std::vector<Recording> recordings = Read(wish);
  std::optional<Cluster> cluster;
  if (wish.wants_collectives) cluster = ParseCluster(wish.cluster);
  FindNcclGroups(cluster ? cluster->device_count() : 0, recordings);
  ImportedTrace imported;
  imported.timeline = MakeMeasuredTimeline(recordings);
  if (wish.wants_samples || wish.wants_collectives) {
    imported.samples = SamplesOf(recordings, {.gpu = wish.gpu,
                                              .is_attention_causal = wish.is_attention_causal,
                                              .format = wish.sample_format,
                                              .cluster = cluster ? &*cluster : nullptr});
  }
  for (const Recording& recording : recordings) {
    imported.notes.insert(imported.notes.end(), recording.notes.begin(), recording.notes.end());
  }
  imported.notes.insert(imported.notes.end(), imported.timeline.notes.begin(),
                        imported.timeline.notes.end());
  NoteUnplaced(imported.timeline, imported.notes);
  NoteOthers(imported.timeline.record, imported.notes);
  imported.notes.insert(imported.notes.end(), imported.samples.notes.begin(),
                        imported.samples.notes.end());
  return imported;
}

std::string Describe(const ImportedTrace& imported) {
  const TimelineRecord& record = imported.timeline.record;
  const auto plural = [](int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string ranks = plural(std::ssize(record.schedule.ranks()), "rank");
  if (record.kernels->world_size > 0) ranks += fmt::format(" of {}", record.kernels->world_size);
  const size_t steps = record.measurement->steps.size();
  const std::string median = steps > 1 ? fmt::format(" (median of {})", steps) : "";
  return fmt::format("{} on {} of {}, step of {:.3f} ms{}, fingerprint {:016x}",
                     plural(record.schedule.task_count(), "kernel"),
                     plural(record.schedule.lane_count(), "stream"), ranks,
                     record.timeline.makespan().ms(), median, record.timeline.Fingerprint());
}

void PrintClasses(const TimelineRecord& record, std::ostream& out) {
  out << fmt::format("  {:<16}{:>10}{:>14}{:>8}{:>16}\n", "class", "kernels", "time ms", "%",
                     "of it waiting");
  const auto sums = SumByClass(record);
  Duration all;
  for (const ClassSum& sum : sums) all += sum.time;
  for (int kind = 0; kind < kKernelClassCount; ++kind) {
    const ClassSum& sum = sums[kind];
    if (sum.kernels == 0) continue;
    out << fmt::format("  {:<16}{:>10}{:>14.3f}{:>8.1f}{:>16.3f}\n",
                       Name(static_cast<KernelClass>(kind)), sum.kernels, sum.time.ms(),
                       kPercent * sum.time.seconds() / std::max(all.seconds(), 1e-12),
                       sum.waits.ms());
  }
}

nlohmann::ordered_json ClassesToJson(const TimelineRecord& record) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto sums = SumByClass(record);
  for (int kind = 0; kind < kKernelClassCount; ++kind) {
    const ClassSum& sum = sums[kind];
    if (sum.kernels == 0) continue;
    rows.push_back({{"class", Name(static_cast<KernelClass>(kind))},
                    {"kernels", sum.kernels},
                    {"time_ms", sum.time.ms()},
                    {"waits_ms", sum.waits.ms()}});
  }
  return rows;
}

}  // namespace stagecraft
