// Words that name a workload, a cluster and a plan.
#pragma once

#include "tests/random_lines/word_source.h"

namespace stagecraft::random_lines {

// A problem that is simulated in milliseconds. Number of devices, where it is known.
int AddProblem(WordSource& words);

// Degrees, mostly such as go on so many devices (0: not known), schedule and switches.
void AddPlan(int devices, WordSource& words);

// What simulate and search both take: sharing, sizes, what overlaps.
void AddStep(WordSource& words);

}  // namespace stagecraft::random_lines
