#include "tools/partition/start_policy.h"

#include <fmt/format.h>

#include <utility>

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
    throw InputError(fmt::format("{}: is {} wide, --policy-width asks for {}", request.file,
                                 shape.width, *request.width));
  }
  if (request.is_directed && !shape.is_directed) {
    throw InputError(request.file + ": is undirected, --policy-directed asks for a directed one");
  }
  return policy;
}

StagePolicy MakePolicy(const PolicyRequest& request, uint64_t seed) {
  if (!request.file.empty()) return ReadPolicy(request);
  return StagePolicy({request.width.value_or(kPolicyWidth), request.is_directed}, seed);
}

}  // namespace

StartPolicy MakeStartPolicy(const PolicyRequest& request, Bandwidth bandwidth, uint64_t seed,
                            std::vector<std::string>& notes) {
  StartPolicy start{MakePolicy(request, seed), !request.file.empty()};
  if (request.training_graphs.empty()) return start;
  std::vector<StageProblem> problems;
  for (const PartitionGraph& graph : request.training_graphs) {
    const TimedGraph timed = ReadTimedGraph(graph, bandwidth, notes);
    for (const std::vector<StageDeviceKind>& kinds : request.training_devices) {
      problems.push_back({timed, kinds, bandwidth});
    }
  }
  TrainPolicy(problems, request.rounds, {.seed = seed}, start.policy, request.report);
  start.has_learned = true;
  const StagePolicyShape& shape = start.policy.shape();
  notes.push_back(fmt::format("a policy {} wide, {}, learned {} rounds on {} problems", shape.width,
                              shape.is_directed ? "directed" : "undirected", request.rounds,
                              problems.size()));
  return start;
}

}  // namespace stagecraft
