// StepMemo: the results of a step function, computed once for each state.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "sim/job/cluster_health.h"
#include "sim/job/job_run.h"

namespace stagecraft {

// Any thread may call it. States take memory as long as the memo lives.
class StepMemo {
 public:
  // The functions must outlive the memo; `replan` may be empty.
  StepMemo(const StepFunction& step, const ReplanFunction& replan);

  // References remain valid as long as the memo lives.
  const std::optional<RunningStep>& Step(const ClusterState& state, int network);
  const std::optional<Replanned>& Replan(const ClusterState& state, int network);

 private:
  template <typename Value>
  struct Table {
    struct Entry {
      std::once_flag once;
      Value value;
    };
    std::mutex mutex;
    std::map<std::pair<int, ClusterState>, std::unique_ptr<Entry>> entries;
  };
  template <typename Value, typename Function>
  static const Value& Look(Table<Value>& table, const Function& function, const ClusterState& state,
                           int network);

  const StepFunction& step_;
  const ReplanFunction& replan_;
  Table<std::optional<RunningStep>> steps_;
  Table<std::optional<Replanned>> plans_;
};

}  // namespace stagecraft
