// StudySearch: the best plan that `search` finds, for many points.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "search/plan_space.h"
#include "search/plans/plan_search.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/search_flags.h"
#include "tools/study/study_cache.h"
#include "tools/study/study_point.h"
#include "tools/verb/flags.h"

namespace stagecraft {

struct BestPlan {
  // The sentence with which `search` refuses the point; empty if it does not. Only then are the
  // members below known.
  std::string refusal;
  std::shared_ptr<const SearchJob> job;
  // It has no plans if none fits; its result then names the obstacle.
  PlanRun run = {};
  std::shared_ptr<const StudyModel> model = {};  // with which plans were evaluated
};

// Flags that ask for more than one best plan, or say what is reported of it: no flags of points.
bool IsFlagOfPoints(const std::string& name);

// A search takes over from those before it what its point leaves as it is: the prices of ops, and
// the close bounds of plans if the point differs only in which plans are allowed, in memory and in
// what devices cost. Its answer is that of a search alone.
//
// Not thread-safe. Its searches use all threads of oneTBB's arena.
class StudySearch {
 public:
  // Searches end early as soon as `stop` is true, which may be null.
  explicit StudySearch(StudyCache& cache, const std::atomic<bool>* stop = nullptr);
  StudySearch(const StudySearch&) = delete;
  StudySearch& operator=(const StudySearch&) = delete;

  // Throws std::runtime_error if a simulation from scratch does not confirm the plan.
  BestPlan Find(const StudyPoint& point);

  // All flags, in the order of the help.
  const Flags& flags() const { return parser_; }

 private:
  struct Values {
    SearchFlags search;
    CostModelFlag cost_model;
  };
  BestPlan FindOrThrow(const StudyPoint& point);
  // Returns the close bounds of searches whose plans take the same times as those of this point.
  std::shared_ptr<CloseTimes> TimesOf(const StudyPoint& point);

  StudyCache& cache_;
  const std::atomic<bool>* stop_;
  Flags parser_;
  Values values_;
  std::unique_ptr<const Values> unset_;  // as before any flag was read
  // The close bounds of the last searches, the latest last. Each stands beside its point, of which
  // the flags that leave times as they are have been removed.
  std::vector<std::pair<StudyPoint, std::shared_ptr<CloseTimes>>> times_;
};

}  // namespace stagecraft
