// AsynchronyObserver: mini-batches in flight, weight versions and staleness as the timeline of an
// asynchronous pipeline shows them, for tests of the formulas.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sim/testing/asynchronous_testing.h"

namespace stagecraft {

// What a timeline shows about the replicas of a stage by nothing but starts and ends.
class AsynchronyObserver {
 public:
  AsynchronyObserver(const SimulatedPlan& run, int stage) : run_(run) {
    const bool is_vertical = run.plan.schedule_options.weight_sync == WeightSync::kVertical;
    const int source = is_vertical ? 0 : stage;
    const auto replicas = [&](int s) {
      return static_cast<int>(run.plan.stages[s].replicas.size());
    };
    source_replicas_ = replicas(source);
    replicas_ = replicas(stage);
    for (TaskId task = 0; task < run.schedule.task_count(); ++task) {
      const Tag& tag = run.schedule.tag(task);
      tasks_[{tag.rank, tag.phase}].push_back(task);
      if (tag.stage == source && tag.phase == Phase::kForward) sources_[MicroBatch(task)] = task;
    }
    for (size_t rank = 0; rank < run.schedule.ranks().size(); ++rank) {
      if (run.schedule.ranks()[rank].stage == stage) ranks_.push_back(static_cast<int>(rank));
    }
  }

  // The most forwards that have begun while their backwards have not ended.
  int InFlight() const {
    int most = 0;
    for (const int rank : ranks_) {
      const Tasks& backwards = Of(rank, Phase::kBackward);
      const Tasks& forwards = Of(rank, Phase::kForward);
      for (size_t i = 0; i < forwards.size(); ++i) {
        const int done = EndedBy(backwards, run_.timeline.start(forwards[i]));
        most = std::max(most, static_cast<int>(i) + 1 - done);
      }
    }
    return most;
  }

  // How many versions lie between the weights of a forward and the newest at its backward.
  int Versions() const {
    int most = 0;
    ForEachMeasured([&](int rank, TaskId forward, TaskId backward) {
      const int newest = EndedBy(Of(rank, Phase::kOptimizer), run_.timeline.start(backward));
      EXPECT_LE(UsedBy(forward),
                EndedBy(Of(rank, Phase::kOptimizer), run_.timeline.start(forward)));
      most = std::max(most, newest - UsedBy(forward) + 1);
    });
    return most;
  }

  // How many updates lie between the weights of a forward and those that its gradient changes.
  int Staleness() const {
    int most = 0;
    ForEachMeasured([&](int rank, TaskId forward, TaskId backward) {
      const Tasks& updates = Of(rank, Phase::kOptimizer);
      size_t applied = 0;
      while (MicroBatch(updates.at(applied)) < MicroBatch(backward)) ++applied;
      most = std::max(most, static_cast<int>(applied) - UsedBy(forward));
    });
    return most;
  }

 private:
  using Tasks = std::vector<TaskId>;

  const Tasks& Of(int rank, Phase phase) const { return tasks_.at({rank, phase}); }

  // The number of a micro-batch among all; separate pipelines count their own.
  int MicroBatch(TaskId task) const {
    const Tag& tag = run_.schedule.tag(task);
    if (!HasSeparatePipelines(run_.plan)) return tag.micro_batch;
    return tag.micro_batch * replicas_ + run_.schedule.ranks()[tag.rank].replica;
  }

  int EndedBy(const Tasks& tasks, Duration time) const {
    return static_cast<int>(std::count_if(
        tasks.begin(), tasks.end(), [&](TaskId task) { return run_.timeline.end(task) <= time; }));
  }

  // Returns the newest version that there is; with vertical sync, the version that has seen as many
  // mini-batches as the first stage's newest had; with double buffers, the batch says which one.
  int UsedBy(TaskId forward) const {
    if (!UpdatesEveryMiniBatch(run_.plan.schedule)) {
      return MicroBatch(forward) / static_cast<int>(run_.plan.micro_batches()) - 1;
    }
    const TaskId source = sources_.at(MicroBatch(forward));
    const Tasks& updates = Of(run_.schedule.tag(source).rank, Phase::kOptimizer);
    return EndedBy(updates, run_.timeline.start(source)) * source_replicas_ / replicas_;
  }

  template <typename F>
  void ForEachMeasured(F f) const {
    const Stretch& stretch = run_.state.stretch;
    for (const int rank : ranks_) {
      const Tasks& backwards = Of(rank, Phase::kBackward);
      for (const TaskId forward : Of(rank, Phase::kForward)) {
        const int b = MicroBatch(forward);
        if (b < stretch.settle || b >= stretch.settle + stretch.measured) continue;
        for (const TaskId backward : backwards) {
          if (MicroBatch(backward) == b) f(rank, forward, backward);
        }
      }
    }
  }

  const SimulatedPlan& run_;
  std::vector<int> ranks_;  // of the stage
  std::map<std::pair<int, Phase>, Tasks> tasks_;
  std::map<int, TaskId> sources_;  // by mini-batch: the task whose newest weights it uses
  int source_replicas_ = 1, replicas_ = 1;
};

}  // namespace stagecraft
