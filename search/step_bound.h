// StepBound: a lower bound of a plan's step time, without lowering or replaying the plan.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "costmodel/hash.h"
#include "search/layer_times.h"
#include "search/pipeline_times.h"
#include "search/problem.h"
#include "search/shard_places.h"
#include "search/space.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// StepBound is for plans of equal stages on devices of one kind. It remembers what layers and
// pipelines take, so a bound costs a fraction of a microsecond; the first one of a pipeline costs a
// few nanoseconds more for each chunk of each stage.
//
// The bound of a step is the largest over the stages of
//   forwards of one micro-batch through all parts before its first one
//   + m x (forward + backward) of all its chunks
//   + backwards through all parts before the first one, if schedules do not split them.
// Every pipeline schedule contains these: passes of one stage run one after another, its first pass
// waits for a forward of what comes before, and backwards of what comes before wait for its last
// pass. Launches, transfers, reductions and the update only add to them. For schedules whose passes
// run side by side (DualPipe) only computation is counted: they may hide everything else. For
// asynchronous pipelines, which neither fill nor drain between steps, only the passes are counted.
//
// What a layer takes depends on where its groups lie if a node's pairs of devices are unlike, or if
// groups straddle nodes. The bound counts the least time of any group that a plan of these degrees
// may have (ShardPlaces).
//
// The bound of a family is what its stages take on average for the micro-batches of the replica
// that has the most, at the best micro-batch size. Its close bound is the least of the bounds above
// over its pipelines, with the least time of each layer over recomputation and degrees of experts.
// If it is not known which devices its ranks take, only computation is counted.
class StepBound {
 public:
  // Problem and memo must outlive it. Rank r is on devices[r].
  StepBound(const SearchProblem& problem, std::vector<int> devices, LayerTimesMemo& memo);

  // Returns a time that is never more than the step time that SimulateStep() gives for the plan.
  Duration StepTime(const PlanDegrees& degrees);
  // Returns a time that is never more than StepTime() of any plan of the family on these devices
  // or, if the family is on no list of devices, on any devices of their kind.
  Duration StepTime(const DegreeFamily& family);
  // Returns a closer one, which is never more either for families with fewer replicas;
  // Duration::Max() if there is no such plan.
  Duration CloseStepTime(const DegreeFamily& family);
  // Returns a time that is never more than StepTime() of any plan whose stages are divided like
  // this, with schedules of this class, on at most this many devices of the same kind;
  // Duration::Max() if there is no such plan.
  Duration StepTime(const DegreeFamily& division, ScheduleClass schedules, int devices);
  // Returns a lower bound of what the fullest device holds. Counts the CUDA context, states, and
  // what forwards keep for the micro-batches that 1F1B, interleaved 1F1B or GPipe have in flight at
  // once; for other schedules, what one forward keeps.
  Bytes Memory(const PlanDegrees& degrees);

 private:
  using Key = std::array<int64_t, 6>;
  // Returns what the degrees say about one stage, and one more value.
  static Key KeyOf(const PlanDegrees& degrees, int64_t other);
  const std::vector<LayerTimes>& LayersOf(const PlanDegrees& degrees);
  // A pipeline: what its stages are, its stages and chunks, and its schedule.
  struct PipelineKey {
    Key stage;
    int pipeline = 1, chunks = 1;
    PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;

    friend bool operator==(const PipelineKey&, const PipelineKey&) = default;
  };
  struct PipelineKeyHash {
    size_t operator()(const PipelineKey& key) const {
      TableHash hash;
      for (const int64_t value : key.stage) hash.Add(value);
      return hash.Add(key.pipeline).Add(key.chunks).Add(static_cast<int64_t>(key.schedule)).value();
    }
  };
  // The times of a micro-batch of a given number of samples through all layers, at the best
  // recomputation and degree of experts.
  struct PassTimes {
    int64_t micro_batch = 0;
    Duration time = Duration::Max();
    std::vector<LayerTimes> layers = {};  // by kind; empty if no plan has such stages
    bool is_elsewhere = false;            // only computation is known
    std::map<int, std::vector<PipelineTimes>> pipelines = {};  // by number of stages
  };
  std::vector<PassTimes>& PassesOf(const DegreeFamily& family, ScheduleClass schedules);
  // Lowers the times to those of stages with these degrees.
  void CountExperts(PlanDegrees degrees, bool computes_alone, PassTimes& passes);
  // Returns whether passes of plans with such schedules may hide collectives of others.
  bool MayHide(ScheduleClass schedules) const;
  const std::vector<PipelineTimes>& PipelinesOf(const DegreeFamily& family, PassTimes& passes);
  // Returns the micro-batches of the replica that has the most.
  int64_t MicroBatches(const DegreeFamily& family, const PassTimes& pass) const;
  // Returns what the forward of one micro-batch keeps for its backward, by kind of layer. Zeros if
  // it keeps nothing, or if a device may hold less: with copies on the host or layers that
  // recompute.
  const std::vector<Bytes>& SavedOf(const PlanDegrees& degrees);
  // Returns a plan of one stage that is divided like this, without layers, on the first devices.
  Plan OneStage(const PlanDegrees& degrees) const;

  const SearchProblem& problem_;
  LayerTimesMemo& memo_;
  ShardPlaces places_;
  std::map<Key, std::vector<LayerTimes>> layer_times_;  // then by kind
  std::map<Key, std::vector<Bytes>> saved_;             // then by kind
  std::unordered_map<PipelineKey, PipelineTimes, PipelineKeyHash> times_;
  std::map<std::pair<int, int>, std::vector<PlanDegrees>> pipelines_;  // by stages and class
  // The key is: tensor, context, whether tokens are split, whether tensor parallelism overlaps, the
  // class of schedules, and whether ranks take these devices.
  std::map<std::array<int, 6>, std::vector<PassTimes>> pass_times_;
};

}  // namespace stagecraft
