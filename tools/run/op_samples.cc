#include "tools/run/op_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/op.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/op_kernel.h"
#include "runtime/profile/measuring.h"
#include "runtime/profile/profiler.h"
#include "tools/profile/steady_clock.h"
#include "tools/verb/progress_text.h"

namespace stagecraft {
namespace {

constexpr const char* kPlace = "--op-samples";

// By op, its kernels, each with the number of its launches.
using Kernels = std::map<OpId, std::unordered_map<ProfileCase, int>>;

// Returns the kernels of the tasks of all ranks on devices with this id.
Kernels KernelsOn(const std::string& id, const Schedule& schedule, const Cluster& cluster) {
  Kernels kernels;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const OpSequenceId op_sequence = schedule.op_sequence(task);
    const Tag tag = schedule.tag(task);
    if (op_sequence < 0 || cluster.device(schedule.ranks()[tag.rank].device).id != id) continue;
    for (size_t i = 0; i < schedule.ops(op_sequence).size(); ++i) {
      const OpId op = schedule.ops(op_sequence)[i];
      if (IsCollective(schedule.op(op).kind)) continue;
      const OpKernel kernel = KernelOf(schedule.op(op), tag.phase, schedule.flags(op_sequence)[i]);
      if (kernel.family == KernelFamily::kNothing || kernel.family == KernelFamily::kSpin) continue;
      kernels[op].emplace(kernel.one, kernel.launches);
    }
  }
  return kernels;
}

GpuPart PartOf(size_t rank, const CudaPlaces& places) {
  GpuPart part;
  if (places.places[rank].multiprocessors == 0) return part;
  for (const CudaPlace& place : places.places) {
    part.multiprocessors.push_back(place.multiprocessors);
  }
  part.part = static_cast<int>(rank);
  return part;
}

std::unordered_map<ProfileCase, Sample> Measure(
    const Kernels& kernels, const Device& device, OpTimer& timer,
    const std::function<void(const std::string&)>& show) {
  std::unordered_set<ProfileCase> cases;
  std::vector<ProfileCase> suite;
  for (const auto& [op, own] : kernels) {
    for (const auto& [one, launches] : own) {
      if (cases.insert(one).second) suite.push_back(one);
    }
  }
  ProfilerOptions options;
  options.gpu = device.id;
  options.source = "stagecraft run";
  options.rules = RulesFor(device);
  SteadyClock clock;
  std::unordered_map<ProfileCase, Sample> samples;
  RunProfiler(
      suite, {}, timer, options, clock,
      [&](const Sample& sample) {
        samples.emplace(ProfileCase{sample.op, sample.name}, sample);
      },
      [&](const ProfileProgress& progress) {
        show(fmt::format(
            "{}: {}", device.id,
            ProgressText(static_cast<int64_t>(progress.done), static_cast<int64_t>(progress.all),
                         "ops", progress.elapsed.seconds())));
      });
  return samples;
}

// Appends the sample of `op`; nothing if one of its kernels was not measured.
void AddOp(const Op& op, const std::unordered_map<ProfileCase, int>& kernels,
           const std::unordered_map<ProfileCase, Sample>& measured, std::vector<Sample>* samples) {
  Sample mean;
  Duration sum;
  std::vector<std::string> names;
  for (const auto& [one, launches] : kernels) {
    const auto found = measured.find(one);
    if (found == measured.end()) return;
    const double spread = std::max(mean.spread, found->second.spread);
    mean = found->second;
    mean.spread = spread;
    sum += launches * found->second.time;
    names.push_back(one.kernel);
  }
  std::sort(names.begin(), names.end());
  mean.name = names[0];
  for (size_t i = 1; i < names.size(); ++i) mean.name += "+" + names[i];
  mean.op = op;
  mean.time = Duration::Seconds(sum.seconds() / static_cast<double>(names.size()));
  samples->push_back(std::move(mean));
}

}  // namespace

std::vector<Sample> SampleOps(const Schedule& schedule, const Cluster& cluster,
                              const CudaPlaces& places,
                              const std::function<void(const std::string&)>& show) {
  if (places.processes > 1) {
    throw InputError(
        fmt::format("{}: got a plan of {} processes, want one: ranks on one GPU, or on its parts",
                    kPlace, places.processes));
  }
  std::vector<Sample> samples;
  std::unordered_set<std::string> done;  // ids of devices
  for (size_t rank = 0; rank < schedule.ranks().size(); ++rank) {
    const Device& device = cluster.device(schedule.ranks()[rank].device);
    if (!done.insert(device.id).second) continue;
    const std::unique_ptr<OpTimer> timer =
        MakeCudaOpTimer(places.places[rank].gpu, kPlace, PartOf(rank, places));
    const Kernels kernels = KernelsOn(device.id, schedule, cluster);
    const std::unordered_map<ProfileCase, Sample> measured = Measure(kernels, device, *timer, show);
    for (const auto& [op, own] : kernels) AddOp(schedule.op(op), own, measured, &samples);
  }
  return samples;
}

}  // namespace stagecraft
