#include "sim/analysis/class_comparison.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "costmodel/check.h"
#include "sim/schedule/task_devices.h"

namespace stagecraft {
namespace {

constexpr int kUnknownPhase = kPhaseCount;

bool IsCopy(Phase phase) { return phase == Phase::kOffload || phase == Phase::kFetch; }

// What a device spends on classes and phases, in seconds.
struct DeviceSums {
  struct OfClass {
    double count = 0, seconds = 0, waits = 0;
  };
  std::array<OfClass, kKernelClassCount> classes;
  std::array<OfClass, kPhaseCount + 1> phases;
  std::map<int32_t, std::pair<double, double>> layers;             // forward, backward
  std::map<std::pair<std::string, KernelClass>, OfClass> kernels;  // by name
  std::set<int32_t> micro_batches;
  double idle = 0;
  double devices = 0;
};

// Adds up a timeline over some of its ranks.
class Summer {
 public:
  // `weights` are by rank: the number of devices for which it counts. `is_whole`: tasks count as
  // one piece even if their ops are known.
  Summer(const TimelineRecord& record, std::vector<double> weights, bool is_whole)
      : record_(record),
        schedule_(record.schedule),
        weights_(std::move(weights)),
        is_whole_(is_whole) {}

  DeviceSums Sum() {
    for (const double weight : weights_) sums_.devices += weight;
    busy_.resize(weights_.size());
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      for (const int32_t rank : RanksOf(task)) AddTask(task, rank);
    }
    for (size_t rank = 0; rank < busy_.size(); ++rank) {
      sums_.idle += weights_[rank] * IdleOf(busy_[rank]).seconds();
    }
    return std::move(sums_);
  }

 private:
  using Intervals = std::vector<std::pair<Duration, Duration>>;

  std::vector<int32_t> RanksOf(TaskId task) const {
    std::vector<int32_t> ranks;
    for (const Lane lane : schedule_.lanes(task)) {
      const int32_t rank = RankOf(schedule_, lane);
      if (rank >= 0 && weights_[rank] > 0) ranks.push_back(rank);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  Duration LengthOf(TaskId task) const {
    return record_.timeline.end(task) - record_.timeline.start(task);
  }

  void Add(KernelClass kind, int phase, double seconds, double weight) {
    for (DeviceSums::OfClass* sum :
         {&sums_.classes[static_cast<int>(kind)], &sums_.phases[phase]}) {
      sum->count += weight;
      sum->seconds += weight * seconds;
    }
  }

  void AddTask(TaskId task, int32_t rank) {
    busy_[rank].emplace_back(record_.timeline.start(task), record_.timeline.end(task));
    const Tag& tag = schedule_.tag(task);
    if (tag.micro_batch >= 0) sums_.micro_batches.insert(tag.micro_batch);
    if (record_.kernels) {
      AddKernel(task, rank);
    } else if (is_whole_) {
      const KernelClass kind =
          IsCopy(tag.phase) ? KernelClass::kCopy : WholeClassOf(schedule_, task);
      if (kind == KernelClass::kEmpty) return;
      Add(kind, static_cast<int>(tag.phase), LengthOf(task).seconds(), weights_[rank]);
    } else {
      AddOps(task, rank);
    }
  }

  void AddKernel(TaskId task, int32_t rank) {
    const TracedKernel& kernel = record_.kernels->kernels[task];
    if (kernel.kind == KernelClass::kEmpty) return;
    const double weight = weights_[rank], seconds = LengthOf(task).seconds();
    const Phase phase = schedule_.tag(task).phase;
    Add(kernel.kind, kernel.has_phase ? static_cast<int>(phase) : kUnknownPhase, seconds, weight);
    sums_.classes[static_cast<int>(kernel.kind)].waits += weight * kernel.waits.seconds();
    DeviceSums::OfClass& named = sums_.kernels[{record_.kernels->names[kernel.name], kernel.kind}];
    named.count += weight;
    named.seconds += weight * seconds;
    if (kernel.layer < 0 || !kernel.has_phase) return;
    auto& [forward, backward] = sums_.layers[kernel.layer];
    if (phase == Phase::kForward) forward += weight * seconds;
    if (IsBackward(phase) || phase == Phase::kBackwardWeight) backward += weight * seconds;
  }

  void AddOps(TaskId task, int32_t rank) {
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    if (op_sequence < 0) return;
    const OpTimes& times = record_.op_times;
    const std::vector<Duration>& by_op = times.by_device[times.device_of_rank[rank]];
    const auto ops = schedule_.ops(op_sequence);
    const auto flags = schedule_.flags(op_sequence);
    const Phase phase = schedule_.tag(task).phase;
    for (size_t i = 0; i < ops.size(); ++i) {
      KernelClass kind = ClassOf(schedule_.op(ops[i]).kind);
      if (kind == KernelClass::kEmpty || by_op[ops[i]] == Duration()) continue;
      if (IsCopy(phase) || (flags[i] & kOnHost) != 0) kind = KernelClass::kCopy;
      Add(kind, static_cast<int>(phase), by_op[ops[i]].seconds(), weights_[rank]);
    }
  }

  Duration IdleOf(Intervals& busy) const {
    std::sort(busy.begin(), busy.end());
    Duration idle, end;
    for (const auto& [from, to] : busy) {
      if (from > end) idle += from - end;
      end = std::max(end, to);
    }
    return idle + (record_.timeline.makespan() - end);
  }

  const TimelineRecord& record_;
  const Schedule& schedule_;
  const std::vector<double> weights_;
  const bool is_whole_;
  DeviceSums sums_;
  std::vector<Intervals> busy_;  // by rank
};

std::vector<double> AllDevices(const Schedule& schedule) {
  std::vector<double> weights;
  for (const RankInfo& rank : schedule.ranks()) weights.push_back(rank.multiplicity);
  return weights;
}

// Returns weights that leave only the predicted ranks of the recorded devices; empty if some of
// these are not among the ranks of the prediction.
std::vector<double> SameRanks(const Schedule& predicted, const Schedule& measured) {
  std::set<int32_t> wanted;
  for (const RankInfo& rank : measured.ranks()) wanted.insert(rank.device);
  std::vector<double> weights;
  size_t found = 0;
  for (const RankInfo& rank : predicted.ranks()) {
    const bool is_wanted = rank.device >= 0 && wanted.contains(rank.device);
    weights.push_back(is_wanted ? 1 : 0);
    found += is_wanted ? 1 : 0;
  }
  if (found != wanted.size() || found == 0) weights.clear();
  return weights;
}

bool HasWholePasses(const TimelineRecord& record) {
  if (!record.kernels) return false;
  const auto& kernels = record.kernels->kernels;
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const TracedKernel& kernel) { return kernel.kind == KernelClass::kPass; });
}

TimePair PairOf(double predicted, double measured, const DeviceSums& p, const DeviceSums& m) {
  return {Duration::Seconds(predicted / p.devices), Duration::Seconds(measured / m.devices)};
}

void AddClasses(const DeviceSums& p, const DeviceSums& m, ClassComparison& result) {
  for (int kind = 0; kind < kKernelClassCount; ++kind) {
    const auto& predicted = p.classes[kind];
    const auto& measured = m.classes[kind];
    if (predicted.count == 0 && measured.count == 0) continue;
    ClassRow row;
    row.kind = static_cast<KernelClass>(kind);
    row.predicted_ops = predicted.count / p.devices;
    row.measured_kernels = measured.count / m.devices;
    row.time = PairOf(predicted.seconds, measured.seconds, p, m);
    row.waits = Duration::Seconds(measured.waits / m.devices);
    result.classes.push_back(row);
    if (measured.count == 0) result.never_ran.push_back(row.kind);
  }
  for (const auto& [name, sum] : m.kernels) {
    if (p.classes[static_cast<int>(name.second)].count > 0) continue;
    result.never_predicted.push_back({name.first, name.second, sum.count / m.devices,
                                      Duration::Seconds(sum.seconds / m.devices)});
  }
  std::stable_sort(result.never_predicted.begin(), result.never_predicted.end(),
                   [](const NamedKernels& a, const NamedKernels& b) { return a.time > b.time; });
}

void AddPhases(const DeviceSums& p, const DeviceSums& m, ClassComparison& result) {
  for (int phase = 0; phase <= kPhaseCount; ++phase) {
    const auto& predicted = p.phases[phase];
    const auto& measured = m.phases[phase];
    if (predicted.count == 0 && measured.count == 0) continue;
    PhaseRow row;
    if (phase != kUnknownPhase) row.phase = static_cast<Phase>(phase);
    row.time = PairOf(predicted.seconds, measured.seconds, p, m);
    result.phases.push_back(row);
  }
}

}  // namespace

KernelClass WholeClassOf(const Schedule& schedule, TaskId task) {
  const OpSequenceId op_sequence = schedule.op_sequence(task);
  if (op_sequence < 0) return KernelClass::kEmpty;
  KernelClass whole = KernelClass::kEmpty;
  for (const OpId op : schedule.ops(op_sequence)) {
    const KernelClass kind = ClassOf(schedule.op(op).kind);
    if (kind == KernelClass::kEmpty || kind == whole) continue;
    if (whole != KernelClass::kEmpty) return KernelClass::kPass;
    whole = kind;
  }
  return whole;
}

ClassComparison CompareClasses(const TimelineRecord& predicted, const TimelineRecord& measured) {
  ClassComparison result;
  result.step = {predicted.timeline.makespan(), measured.timeline.makespan()};
  std::vector<double> weights = SameRanks(predicted.schedule, measured.schedule);
  result.is_of_same_ranks = !weights.empty();
  if (weights.empty()) weights = AllDevices(predicted.schedule);
  const bool is_whole = HasWholePasses(predicted) || HasWholePasses(measured);
  const DeviceSums p = Summer(predicted, std::move(weights), is_whole).Sum();
  const DeviceSums m = Summer(measured, AllDevices(measured.schedule), is_whole).Sum();
  for (const double weight : AllDevices(predicted.schedule)) {
    result.predicted_devices += static_cast<int>(weight);
  }
  result.measured_ranks = static_cast<int>(measured.schedule.ranks().size());
  CHECK(p.devices > 0 && m.devices > 0);
  result.idle = PairOf(p.idle, m.idle, p, m);
  result.predicted_micro_batches = static_cast<int>(p.micro_batches.size());
  result.measured_micro_batches = static_cast<int>(m.micro_batches.size());
  AddClasses(p, m, result);
  AddPhases(p, m, result);
  for (const auto& [layer, times] : m.layers) {
    result.layers.push_back({layer, Duration::Seconds(times.first / m.devices),
                             Duration::Seconds(times.second / m.devices)});
  }
  return result;
}

}  // namespace stagecraft
