// Repack(): frees stages that a smaller network no longer needs.
#pragma once

#include <optional>
#include <vector>

#include "search/balance/balance_problem.h"

namespace stagecraft {

struct Repacking {
  std::vector<int> kept;   // The stages that are kept, ascending.
  std::vector<int> freed;  // The others, ascending; there may be none.
  Division division;       // The division over the kept stages.
  double slowest = 0;      // The load of the slowest stage.
};

// Returns the fewest stages on which a division fits memory and the pipeline keeps at least
// 1 - `loss` of its pace: the slowest stage takes at most 1 / (1 - loss) of what it takes now. The
// division is the best on these stages. Returns no value if that is not possible even with all
// stages, because memory does not suffice. At least `least` stages are kept: whoever knows more
// about memory than the problem says can ask for the next larger number. Throws InputError as
// CheckBalanceProblem() and CheckDivision() do, and unless 0 <= loss < 1.
//
// The slowest stages are freed first; of equally fast ones, those with the least memory, and of
// these the last. If stages differ in speed or memory, other stages that are as many, or even
// fewer, may do as well: only this order is tried. Takes O(stages) probes of DivideWithin().
std::optional<Repacking> Repack(const BalanceProblem& problem, const Division& present, double loss,
                                int least = 1);

struct FirstFitPacking {
  std::vector<int> stage_of_layer;
  std::vector<int> freed;   // The stages that are freed, ascending.
  bool keeps_order = true;  // No layer is on an earlier stage than one before it.
  double slowest = 0;       // The load of the slowest stage.
};

// Returns DynMo's re-packing (its program, cf. arXiv:2505.14864), for comparison: each stage in
// order gives all its layers to the first later stage with which it has less memory than that
// stage's limit, until `target` stages are left; no value if more are left. Loads do not count. The
// problem has memory limits. Throws InputError as Repack() does.
std::optional<FirstFitPacking> RepackFirstFit(const BalanceProblem& problem,
                                              const Division& present, int target);

}  // namespace stagecraft
