// ShapedWork: runs every op of a rank's tasks at its shape, on data without meaning.
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
  // Allocates the memory of HostOps, and for every lane on which the rank sends or receives as many
  // buffers as exchanges may be in flight at once, each of the size of the largest. The schedule
  // must outlive the object.
  ShapedWork(const Schedule& schedule, const RankProgram& program);

  void Run(TaskId task, int index) override;
  // Returns the buffers of a lane in rotation, so that no two exchanges in flight share one.
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
