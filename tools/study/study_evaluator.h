// StudyEvaluator: what `simulate` predicts, for many points that have much in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "tools/study/study_cache.h"
#include "tools/study/study_flags.h"
#include "tools/study/study_point.h"

namespace stagecraft {

struct StudyResult {
  // The sentence with which `simulate` refuses the point; empty if it does not. Only then are the
  // members below known.
  std::string refusal;
  std::shared_ptr<const StudyBase> base;
  Plan plan;  // with its passes
  Evaluation evaluation;
  std::vector<std::string> notes;  // what `simulate` assumes about the plan

  bool is_refused() const { return !refusal.empty(); }
};

// Whether plans whose memory does not suffice are simulated all the same, as `simulate` does, or
// are left without a time.
enum class UnfitPlans { kSimulated, kUntimed };

// Gives the results of `simulate`, to the bit. What points have in common is made once: networks
// and clusters, estimates of the cost model, and those parts of plans that are alike. Not
// thread-safe: use one for each thread, with the same cache.
class StudyEvaluator {
 public:
  explicit StudyEvaluator(StudyCache& cache, UnfitPlans unfit = UnfitPlans::kSimulated);
  ~StudyEvaluator();

  StudyResult Evaluate(const StudyPoint& point, const ClusterChanges& changes = {});

 private:
  struct Worker;  // an Evaluator, and the base that it refers to
  StudyResult EvaluateOrThrow(const StudyPoint& point, const ClusterChanges& changes);
  // Returns the worker of the flags that were read.
  Worker& WorkerOf(const ClusterChanges& changes);

  StudyCache& cache_;
  const UnfitPlans unfit_;
  StudyFlags flags_;
  std::vector<std::unique_ptr<Worker>> workers_;  // latest first
};

}  // namespace stagecraft
