// PooledBound: what plans over pools take at least, before their blocks are shared out.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "search/pooled_plan.h"
#include "search/pooled_split.h"
#include "search/problem.h"

namespace stagecraft {

// Some stage takes no less than all would if layers could be divided at will: with w_k the
// time of layer k in some pool taken as reference and r_s the least ratio of a layer's time on
// stage s to that, stage s takes at least r_s times the reference time of its layers, and so
// the slowest at least  sum of all w_k / sum over stages of 1 / r_s.
class PooledBound {
 public:
  // All outlive it.
  PooledBound(const SearchProblem& problem, const PooledEnumeration& plans,
              const PooledSplit& split)
      : problem_(problem), plans_(plans), split_(split) {}

  // No plan of the family takes less, whatever its runs.
  Duration OfFamily(const PooledPlan& family) const;
  // No split of the blocks over the plan's stages takes less.
  Duration OfPlan(const PooledPlan& plan) const;

 private:
  // What the layers of one micro-batch take in a pool, all together and kind by kind.
  struct Reference {
    const std::vector<LayerTimes>* times = nullptr;
    double all_ns = 0;
  };
  Reference ReferenceOf(const PooledPlan& plan) const;
  // 1 / r of a stage in a pool.
  double SpeedOf(const PooledPlan& plan, const Reference& reference, int pool, int tensor) const;
  Duration StepTime(const PooledPlan& plan, const Reference& reference, double speed) const;

  const SearchProblem& problem_;
  const PooledEnumeration& plans_;
  const PooledSplit& split_;
};

}  // namespace stagecraft
