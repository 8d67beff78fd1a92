#include "search/edge_notes.h"

#include <fmt/core.h>

#include <cstdint>

#include "search/space.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {
namespace {

// What search tries of context parallelism by itself, as the help of --cp says.
constexpr int kMostContext = 16;
constexpr int64_t kLeastTokens = 256;  // of a sequence on a rank

std::string EdgeNote(const char* flag, int value, const char* condition) {
  return fmt::format(
      "the best plan has {} {}, the most that a search tries by itself: --{} {},{} tries more{}",
      flag, value, flag, value, 2 * value, condition);
}

}  // namespace

std::vector<std::string> EdgeNotes(const SearchProblem& problem, const Plan& best) {
  const Choices& choices = problem.choices;
  const Stage& stage = best.stages[0];
  std::vector<std::string> notes;
  if (choices.context.empty() && stage.context_parallel == kMostContext &&
      best.sequence / (2 * kMostContext) >= kLeastTokens &&
      problem.cluster.device_count() >= 2 * kMostContext * stage.tensor_parallel) {
    notes.push_back(EdgeNote("cp", kMostContext, ""));
  }
  if (choices.tensor.empty() && stage.tensor_parallel == kMostTensor &&
      problem.cluster.device_count() >= 2 * kMostTensor) {
    notes.push_back(EdgeNote("tp", kMostTensor, ""));
  }
  if (choices.chunks.empty() && best.chunk_count() == kMostChunks) {
    notes.push_back(EdgeNote("vpp", kMostChunks, ", where virtual stages still divide the layers"));
  }
  return notes;
}

}  // namespace stagecraft
