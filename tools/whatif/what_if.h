// WhatIf(): a step as it is asked for, and after each of several changes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/step/training_cost.h"
#include "tools/report/explanation.h"
#include "tools/study/study_point.h"
#include "tools/whatif/change.h"

namespace stagecraft {

// What is predicted of a point.
struct Answer {
  // Why there is no step: the sentence of `simulate` or `search` that refuses the point.
  std::string refusal = {};
  // The step and what it waits for, as far as it is known: a search may find no plan that fits, and
  // a pipeline that never flushes has no end to wait for.
  std::optional<Explanation> step = {};
  bool waits_are_known = false;
  bool is_searched = false;   // the plan is the best that a search found
  std::string obstacle = {};  // of a search: why no plan fits
  bool is_best = false;       // of a search: the plan is proven to be the best of its space
};

// Gives the answers of `simulate`, or of a search for the best plan. Not thread-safe.
class Answerer {
 public:
  virtual ~Answerer() = default;
  virtual Answer Ask(const StudyPoint& point) = 0;
};

struct WhatIfRow {
  std::vector<size_t> changes;  // indices into the changes; none: the point as it is asked for
  StudyPoint point;
  Answer answer;
  std::string why;  // a sentence about the difference to the first row
};

struct WhatIfTable {
  std::vector<Change> changes;
  WhatIfRow base;
  std::vector<WhatIfRow> rows;  // one for each change and then, if asked for, one for each pair
};

// Makes the changes one at a time and, with `pairs`, also any two that do not collide. Throws
// InputError with the refusal of the base, or of a single change, which it names; a pair that is
// refused says so in its row.
WhatIfTable WhatIf(const StudyPoint& base, const std::vector<Change>& changes, bool pairs,
                   Answerer& answerer);

}  // namespace stagecraft
