// The plans of equal stages and replicas that a problem leaves to choose from, each once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/problem.h"
#include "sim/plan.h"

namespace stagecraft {

// Of what is sought where nothing is asked for.
inline constexpr int kMostTensor = 64;
inline constexpr int64_t kMostMicroBatch = 16;
inline constexpr int kMostChunks = 16;

// The problem's choices or, where it leaves them open, the usual ones.
std::vector<PipelineOrder> OrdersToTry(const SearchProblem& problem);
// The one that is tried where there is one stage: 1F1B or, where that is no choice, the first
// that takes one chunk.
std::optional<PipelineOrder> OrderOfOneStage(const SearchProblem& problem);
std::vector<Recompute> RecomputesToTry(const SearchProblem& problem);
std::vector<std::string> RankOrdersToTry(const SearchProblem& problem);

// Every one can be made into a plan by MakePlan(), unless its orders need more of what
// is measured. All numbers are resolved: data and zero are what the plan will have.
// Sorted by the order of the choices, so the same at every call.
//
//   tensor     divides heads and hidden size; at most kMostTensor
//   context    a power of two, at most 16, that leaves 256 tokens of a sequence
//   expert     divides the experts and the data-parallel ranks
//   pipeline   divides what is left of the devices
//   order      one where there is one stage
//   chunks     where virtual stages divide the blocks, or the layers with both ends; at most
//              kMostChunks, and one where there is one stage
//   micro-batch  divides a replica's samples, at most kMostMicroBatch, of those with one
//              chunk and several only what fills the pipeline's groups
//   sequence parallelism  with and without where tensor ranks could share tokens
//   rank order replicas of a stage beside each other, or stages of a replica; one alone where
//              it makes no difference (rank_places.h)
//   recompute  none and full, and selective where it changes anything
//   zero       0 alone where there is nothing to share
std::vector<PlanDegrees> EnumerateDegrees(const SearchProblem& problem);

}  // namespace stagecraft
