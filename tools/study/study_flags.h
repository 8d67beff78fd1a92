// StudyFlags: the flags of `simulate` that have an effect on the step, read point by point.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/network_flags.h"
#include "tools/flags/plan_flags.h"
#include "tools/flags/slow_flag.h"
#include "tools/study/study_cache.h"
#include "tools/study/study_point.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// A change of the cluster that no flag says, such as one of all its links. Changes of equal names
// must be equal.
struct ClusterChange {
  std::string name;
  std::function<Cluster(const Cluster&)> apply;
};
using ClusterChanges = std::vector<ClusterChange>;

class StudyFlags {
 public:
  StudyFlags();
  StudyFlags(const StudyFlags&) = delete;
  StudyFlags& operator=(const StudyFlags&) = delete;

  // Reads the flags of a point in place of the last one's. Throws InputError as `simulate` does.
  void Read(const StudyPoint& point);

  // What the point asks for but its plan, on the cluster with these changes, and a key: equal keys
  // have equal bases.
  std::string BaseKey(const ClusterChanges& changes) const;
  std::shared_ptr<const StudyBase> Base(StudyCache& cache, const ClusterChanges& changes) const;
  // The plan on a base of this key.
  JobPlan BuildPlan(const StudyBase& base) const;

  // All flags, in the order of the help.
  const Flags& flags() const { return parser_; }

 private:
  // The variables to which the flags are bound.
  struct Values {
    PlanFlags plan;
    SlowFlag slow;
    NetworkFlags network;
    CostModelFlag cost_model;
  };

  Flags parser_;
  Values values_;
  std::unique_ptr<const Values> unset_;  // as before any flag was read
  PlanFlags resolved_;                   // with the defaults of the training stack
  std::string own_key_;                  // of the flags that PlanFlags does not have
};

}  // namespace stagecraft
