// ShapedWork: every op of a rank's tasks, at its shape, on data without meaning.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "runtime/host_ops.h"
#include "runtime/rank_program.h"
#include "runtime/rank_work.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class ShapedWork : public RankWork {
 public:
  // The schedule must outlive it. Memory: that of HostOps, and that of the largest exchange of
  // every lane on which the rank sends or receives, as often as exchanges may be in flight at once.
  ShapedWork(const Schedule& schedule, const RankProgram& program);

  void Run(TaskId task, int index) override;
  // The buffers of a lane in rotation, so that no two exchanges in flight share one.
  std::span<float> Buffer(TaskId task, int index) override;

 private:
  struct LaneBuffers {
    std::vector<std::vector<float>> buffers;
    size_t next = 0;
  };

  const Op& OpOf(TaskId task, int index) const;
  Lane LaneOf(TaskId task) const { return schedule_.lanes(task)[0]; }

  const Schedule& schedule_;
  HostOps ops_;
  std::map<Lane, LaneBuffers> lanes_;
};

}  // namespace stagecraft
