// Words that name a workload, a cluster and a plan.
#pragma once

#include "tests/random_lines/word_source.h"

namespace stagecraft::random_lines {

// Adds a problem that can be simulated in milliseconds. Returns its number of devices; 0 if that is
// not known.
int AddProblem(WordSource& words);

// Adds degrees, mostly ones that are possible on this number of devices (0: not known), a schedule
// and switches.
void AddPlan(int devices, WordSource& words);

// Adds flags that `simulate` and `search` both take: sharing, sizes, overlap.
void AddStep(WordSource& words);

}  // namespace stagecraft::random_lines
