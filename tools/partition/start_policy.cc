#include "tools/partition/start_policy.h"

#include <fmt/core.h>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "search/partition/stages/stage_ppo.h"
#include "tools/partition/read_graph.h"

namespace stagecraft {
namespace {

StagePolicy ReadPolicy(const PolicyRequest& request) {
  StagePolicy policy = StagePolicy::Read(ReadFile(request.file), request.file);
  const StagePolicyShape& shape = policy.shape();
  if (request.width && *request.width != shape.width) {
    throw InputError(fmt::format("{}: got width {}, want {} as --policy-width says", request.file,
                                 shape.width, *request.width));
  }
  if (request.is_directed && !shape.is_directed) {
    throw InputError(request.file +
                     ": got an undirected policy, want a directed one as --policy-directed says");
  }
  return policy;
}

StagePolicy MakePolicy(const PolicyRequest& request, uint64_t seed) {
  if (!request.file.empty()) return ReadPolicy(request);
  return StagePolicy({request.width.value_or(kPolicyWidth), request.is_directed}, seed);
}

std::string CauseOfEnd(const Budget& budget) {
  const bool is_interrupted = budget.stop != nullptr && budget.stop->load();
  return is_interrupted ? "interrupted" : "the budget ended";
}

}  // namespace

StartPolicy MakeStartPolicy(const PartitionRequest& request, Bandwidth bandwidth,
                            const Budget& budget, std::vector<std::string>& notes) {
  const PolicyRequest& wanted = request.policy;
  StartPolicy start{MakePolicy(wanted, request.seed), !wanted.file.empty()};
  if (wanted.training_graphs.empty()) return start;
  std::vector<StageProblem> problems;
  for (const PartitionGraph& graph : wanted.training_graphs) {
    const TimedGraph timed = ReadTimedGraph(graph, bandwidth, notes);
    for (const std::vector<StageDeviceKind>& kinds : wanted.training_devices) {
      problems.push_back({timed, kinds, bandwidth});
    }
  }
  start.batches = TrainPolicy(problems, wanted.rounds, {.seed = request.seed}, start.policy,
                              wanted.report, budget);
  const StagePolicyShape& shape = start.policy.shape();
  const auto count = static_cast<int>(problems.size());
  const bool is_done = start.batches == wanted.rounds * count;
  const std::string of_all = is_done ? "" : fmt::format("{} of ", start.batches / count);
  notes.push_back(
      fmt::format("a policy of width {}, {}, was trained for {}{} rounds on {} problem{}{}",
                  shape.width, shape.is_directed ? "directed" : "undirected", of_all, wanted.rounds,
                  count, count == 1 ? "" : "s", is_done ? "" : ": " + CauseOfEnd(budget)));
  return start;
}

void SavePolicy(const PartitionRequest& request, const StartPolicy& start,
                PartitionAnswer& answer) {
  const std::string& file = request.policy.save;
  if (file.empty()) return;
  if (start.batches == 0) {
    answer.unsaved_policy =
        fmt::format("{} is not written: {} before the policy was trained on a batch of {} plans",
                    file, CauseOfEnd(request.budget), StagePpoOptions().batch);
    return;
  }
  WriteFileAtomically(file, start.policy.Write());
  answer.saved_policy = file;
}

}  // namespace stagecraft
