#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "search/partition/check_planners.h"
#include "search/partition/het_pipe.h"
#include "search/partition/stop_sign.h"
#include "tools/partition/partition_request.h"
#include "tools/partition/profiled_states.h"

namespace stagecraft {
namespace {

// Limits, because all orders of the GPUs of a virtual worker are tried.
constexpr int kMostGpus = 8;  // of a server
constexpr int kMostServers = 5;

struct Policy {
  const char* name;
  VirtualWorkerPolicy policy;
};
constexpr Policy kPolicies[] = {{"np", VirtualWorkerPolicy::kNodePartition},
                                {"ed", VirtualWorkerPolicy::kEqualDistribution},
                                {"hd", VirtualWorkerPolicy::kHybrid}};

void RequireOneEach(const char* flag, size_t got, size_t servers) {
  if (got == 0 || got == servers) return;
  throw InputError(
      fmt::format("{}: got {} numbers, want one for each of {} servers", flag, got, servers));
}

HetPipeOptions OptionsOf(const PartitionRequest& request) {
  if (request.machines.size() != 2 || request.machines[0] > kMostGpus ||
      request.machines[1] > kMostServers) {
    throw InputError(fmt::format(
        "--machines: want GPUs per server, at most {}, and servers, at most {}, such as "
        "4,4",
        kMostGpus, kMostServers));
  }
  const auto servers = static_cast<size_t>(request.machines[1]);
  RequireOneEach("--server-speed", request.server_speed.size(), servers);
  RequireOneEach("--server-memory", request.server_memory_bytes.size(), servers);
  HetPipeOptions options;
  options.inside = Bandwidth(request.bandwidth_bytes_per_s[0]);
  options.between = Bandwidth(request.bandwidth_bytes_per_s[1]);
  for (size_t server = 0; server < servers; ++server) {
    HetPipeServer added;
    added.devices = request.machines[0];
    if (!request.server_speed.empty()) added.speed = request.server_speed[server];
    double bytes = request.memory_bytes.value_or(1e15);  // without a limit
    if (!request.server_memory_bytes.empty()) bytes = request.server_memory_bytes[server];
    added.memory = Bytes(std::llround(bytes));
    options.servers.push_back(added);
  }
  return options;
}

using Workers = std::vector<VirtualWorker>;

// Returns the rate with all GPUs busy all the time, in minibatches per second.
double MostRate(const ProfiledStates& profile, const HetPipeOptions& options) {
  double power = 0;
  for (const HetPipeServer& server : options.servers) power += server.devices * server.speed;
  return power / profile.states.states.back().compute.seconds();
}

// Returns no value if a worker does not fit or the policy does not apply. Throws Stopped.
std::optional<Workers> SolveWorkers(const ProfiledStates& profile, const HetPipeOptions& options,
                                    const StopSign& stop) {
  std::map<std::vector<int>, std::optional<VirtualWorker>> solved;  // by the GPUs of a worker
  Workers workers;
  for (const std::vector<int>& gpus : VirtualWorkerGpus(options)) {
    if (!solved.contains(gpus)) {
      solved.emplace(gpus, SolveVirtualWorker(profile.states, options, gpus, stop));
    }
    if (!solved.at(gpus)) return std::nullopt;
    CHECK(CheckVirtualWorker(profile.graph, options, gpus, *solved.at(gpus)).errors.empty());
    workers.push_back(*solved.at(gpus));
  }
  if (workers.empty()) return std::nullopt;
  return workers;
}

std::string RatesOf(const Workers& workers) {
  return fmt::format("{:.4g} minibatches/s ({:.4g} summed over workers)", WaveRate(workers),
                     AddedRate(workers));
}

// Returns the workers of the best policy; appends to `tried` how well each policy does. Throws
// Stopped if it is stopped before it has any workers.
std::optional<Workers> TryPolicies(const ProfiledStates& profile, const PartitionRequest& request,
                                   HetPipeOptions options, const StopSign& stop,
                                   std::string& tried) {
  std::optional<Workers> best;
  try {
    for (const Policy& policy : kPolicies) {
      if (!request.worker_policy.empty() && request.worker_policy != policy.name) continue;
      options.policy = policy.policy;
      std::optional<Workers> workers = SolveWorkers(profile, options, stop);
      tried += fmt::format("{}{} {}", tried.empty() ? "policies: " : ", ", policy.name,
                           workers ? RatesOf(*workers) : "not possible");
      if (workers && (!best || WaveRate(*workers) > WaveRate(*best))) best = std::move(workers);
    }
  } catch (const Stopped&) {
    if (!best) throw;
  }
  return best;
}

}  // namespace

PartitionAnswer PartitionByHetPipe(const PartitionRequest& request) {
  const HetPipeOptions options = OptionsOf(request);
  const StopSign stop(request.budget);
  PartitionAnswer answer;
  const ProfiledStates profile = ReadProfiledStates(request, stop, answer);
  RequireTime(profile, request.graph);
  std::string tried;
  const std::optional<Workers> best = TryPolicies(profile, request, options, stop, tried);
  if (!best) {
    answer.obstacle = "memory: no virtual worker holds one minibatch on its GPUs (" + tried + ")";
    return answer;
  }
  answer.is_cut_short = stop.was_obeyed();
  answer.notes.push_back(tried);
  answer.notes.push_back(
      "rate: every worker runs at the rate of the slowest, for which all wait after every wave");
  answer.minibatches_per_s = WaveRate(*best);
  answer.added_minibatches_per_s = AddedRate(*best);
  answer.bound_minibatches_per_s = MostRate(profile, options);
  answer.bottleneck_s = 0;
  for (size_t w = 0; w < best->size(); ++w) {
    const VirtualWorker& worker = (*best)[w];
    answer.bottleneck_s = std::max(*answer.bottleneck_s, worker.bottleneck_s);
    for (const HetPipeStage& stage : worker.stages) {
      PartitionedStage added;
      added.nodes = NamesOf(profile.graph, stage.nodes);
      added.time_s = stage.time_s;
      added.memory_bytes = stage.memory_bytes;
      added.place =
          fmt::format("worker {}, server {} ({} in flight)", w, stage.server, worker.in_flight);
      answer.stages.push_back(added);
    }
  }
  return answer;
}

}  // namespace stagecraft
