#include "sim/engine/bound_costs.h"

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/collective_method.h"

namespace stagecraft {
namespace {

// When the last op of a sequence ends, while its ops are added one after another.
class SequenceEnd {
 public:
  // The device takes `time` for the op, which the host has launched at `launched`.
  void Add(Duration launched, Duration time, bool overlaps_next) {
    last_ = std::max(last_, std::max(free_, launched) + time);
    if (!overlaps_next) free_ = last_;
  }
  Duration last() const { return last_; }

 private:
  Duration free_;  // when the device is free of the ops before
  Duration last_;  // end of the ops that run side by side so far
};

// Makes sure that sums of times stay far within the range of a Duration.
void CheckSum(const Schedule& schedule, const BoundCosts& costs, const Cluster& cluster) {
  Duration most;  // of one task
  for (const std::vector<OpSequenceTimes>& op_sequences : costs.op_sequences) {
    for (const OpSequenceTimes& times : op_sequences) most = std::max(most, times.FromIdle());
  }
  if (schedule.task_count() * most <= kLongestTime) return;
  Duration sum;
  for (TaskId task = 0; task < schedule.task_count() && sum <= kLongestTime; ++task) {
    sum += costs.TaskTimes(schedule, task).FromIdle();
  }
  CheckStepTime(sum, cluster);
}

// The estimates of a schedule's distinct ops on devices at any speed.
class SpeedEstimates {
 public:
  SpeedEstimates(const Schedule& schedule, const CostModel& model)
      : schedule_(schedule), model_(model), ops_(schedule.distinct_ops()) {
    if (std::none_of(ops_.begin(), ops_.end(), HasSlowLinks)) return;
    for (const Op& op : ops_) at_full_speed_.push_back(AtFullSpeed(op));
  }

  std::vector<Estimate> Of(const Device& device, double speed) const {
    std::vector<Estimate> estimates =
        model_.Predict(at_full_speed_.empty() ? ops_ : at_full_speed_, device);
    const std::vector<bool> is_on_host = speed != 1 ? OnHost() : std::vector<bool>();
    for (size_t i = 0; i < ops_.size(); ++i) {
      Duration& time = estimates[i].time;
      if (IsCollective(ops_[i].kind)) {
        time += SlowLinkTime(ops_[i], estimates[i].method.algorithm);
      } else if (speed != 1 && !is_on_host[i]) {
        time = Duration::RoundedNanoseconds(static_cast<double>(time.ns()) / speed);
      }
    }
    return estimates;
  }

 private:
  static bool HasSlowLinks(const Op& op) {
    return op.fabric.intra_rate != 1 || op.fabric.inter_rate != 1;
  }

  // Returns by op whether the host runs it.
  std::vector<bool> OnHost() const {
    std::vector<bool> is_on_host(ops_.size());
    for (OpSequenceId sequence = 0; sequence < schedule_.op_sequence_count(); ++sequence) {
      const std::span<const uint8_t> flags = schedule_.flags(sequence);
      for (size_t i = 0; i < flags.size(); ++i) {
        if ((flags[i] & kOnHost) != 0) is_on_host[schedule_.ops(sequence)[i]] = true;
      }
    }
    return is_on_host;
  }

  const Schedule& schedule_;
  const CostModel& model_;
  const std::span<const Op> ops_;
  std::vector<Op> at_full_speed_;  // empty: no links are slow
};

}  // namespace

void CheckStepTime(Duration time, const Cluster& cluster) {
  if (time <= kLongestTime) return;
  throw InputError(cluster.name() +
                   ": the step would take more than 100 years, want faster devices and links or "
                   "less work");
}

Duration TimeBesideOthers(const Schedule& schedule, OpSequenceId op_sequence,
                          std::span<const Estimate> estimates, size_t index) {
  const auto ops = schedule.ops(op_sequence);
  const auto flags = schedule.flags(op_sequence);
  const Duration alone = estimates[ops[index]].time;
  if (index == 0 || (flags[index - 1] & kOverlapsNext) == 0) return alone;
  if (IsCollective(schedule.op(ops[index]).kind)) return alone;
  double lost = 0;
  for (size_t i = index; i > 0 && (flags[i - 1] & kOverlapsNext) != 0; --i) {
    const Estimate& beside = estimates[ops[i - 1]];
    if (beside.slowdown == 0) continue;
    const double whole = alone.seconds() / (1 - beside.slowdown);  // if it runs that long
    lost += beside.slowdown * std::min(beside.time.seconds(), whole);
  }
  return alone + Duration::Seconds(lost);
}

OpSequenceTimes TimesOf(const Schedule& schedule, OpSequenceId op_sequence,
                        std::span<const Estimate> estimates) {
  const auto ops = schedule.ops(op_sequence);
  const auto flags = schedule.flags(op_sequence);
  OpSequenceTimes times;
  SequenceEnd in_time, from_idle;
  bool is_beside = false;  // the op overlaps the one before it
  for (size_t i = 0; i < ops.size(); ++i) {
    const Estimate& estimate = estimates[ops[i]];
    const Duration time =
        is_beside ? TimeBesideOthers(schedule, op_sequence, estimates, i) : estimate.time;
    is_beside = (flags[i] & kOverlapsNext) != 0 && i + 1 < ops.size();
    times.host += estimate.host;
    in_time.Add(Duration(), time, is_beside);
    from_idle.Add(times.host, time, is_beside);
  }
  times.device = in_time.last();
  times.lead = from_idle.last() - times.device;
  return times;
}

OpSequenceTimes BoundCosts::TaskTimes(const Schedule& schedule, TaskId task) const {
  const OpSequenceId op_sequence = schedule.op_sequence(task);
  if (op_sequence < 0) return {};
  if (op_sequences.size() == 1) return op_sequences[0][op_sequence];
  OpSequenceTimes slowest;
  Duration from_idle;
  for (const Lane lane : schedule.lanes(task)) {
    const int32_t rank = schedule.lane_infos()[Index(lane)].rank;
    const OpSequenceTimes& times = op_sequences[device_of_rank[rank]][op_sequence];
    slowest.device = std::max(slowest.device, times.device);
    slowest.host = std::max(slowest.host, times.host);
    from_idle = std::max(from_idle, times.FromIdle());
  }
  slowest.lead = from_idle - slowest.device;
  return slowest;
}

BoundCosts BindCosts(const Schedule& schedule, const Cluster& cluster, const CostModel& model) {
  BoundCosts costs;
  std::vector<double> speeds;  // by distinct device
  for (const RankInfo& rank : schedule.ranks()) {
    const Device& device = cluster.device(rank.device);
    const double speed = cluster.speed(rank.device);
    size_t found = 0;
    while (found < speeds.size() && !(speeds[found] == speed && costs.devices[found] == device)) {
      ++found;
    }
    if (found == speeds.size()) {
      costs.devices.push_back(device);
      speeds.push_back(speed);
    }
    costs.device_of_rank.push_back(static_cast<int>(found));
  }
  const SpeedEstimates estimates(schedule, model);
  for (size_t i = 0; i < speeds.size(); ++i) {
    costs.estimates.push_back(estimates.Of(costs.devices[i], speeds[i]));
    std::vector<OpSequenceTimes> op_sequences;
    for (OpSequenceId op_sequence = 0; op_sequence < schedule.op_sequence_count(); ++op_sequence) {
      op_sequences.push_back(TimesOf(schedule, op_sequence, costs.estimates.back()));
    }
    costs.op_sequences.push_back(std::move(op_sequences));
  }
  CheckSum(schedule, costs, cluster);
  return costs;
}

Duration BoundCosts::OpTime(const Schedule& schedule, TaskId task, OpId op) const {
  Duration slowest;
  for (const Lane lane : schedule.lanes(task)) {
    const int32_t rank = schedule.lane_infos()[Index(lane)].rank;
    slowest = std::max(slowest, estimates[device_of_rank[rank]][op].time);
  }
  return slowest;
}

const CollectiveMethod& BoundCosts::MethodOf(const Schedule& schedule, TaskId task, OpId op) const {
  const int32_t rank = schedule.lane_infos()[Index(schedule.lanes(task)[0])].rank;
  return estimates[device_of_rank[rank]][op].method;
}

}  // namespace stagecraft
