#include "search/partition/het_pipe.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "costmodel/check.h"
#include "search/partition/stage_chain.h"

namespace stagecraft {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// WorkerCutter cuts the network for the GPUs of one worker in one order.
class WorkerCutter {
 public:
  WorkerCutter(const AntichainStates& states, const HetPipeOptions& options,
               const std::vector<int>& order, int in_flight, const StopSign& stop)
      : states_(states), options_(options), order_(order), in_flight_(in_flight), stop_(stop) {}

  // Returns the cuts whose slowest stage is fastest; no value if no cuts keep all stages within
  // `limit`. Throws Stopped.
  std::optional<VirtualWorker> Cut(double limit) {
    const int states = states_.size();
    const auto stages = static_cast<int>(order_.size());
    best_.assign(stages, std::vector<Prefix>(states));
    for (int stage = 0; stage < stages; ++stage) {
      for (int end = stage; end < states; ++end) {
        stop_.Check();
        if (stage == 0) {
          Improve(stage, -1, end, limit);
          continue;
        }
        for (int before = stage - 1; before < end; ++before) Improve(stage, before, end, limit);
      }
    }
    if (best_[stages - 1][states - 1].slowest_s > limit) return std::nullopt;
    return Collect();
  }

 private:
  struct Prefix {
    double slowest_s = kNever;
    int before = -1;
  };

  double TransferSeconds(int stage, double bytes) const {
    // The output, and its gradient back; `stage` is the one behind the cut.
    const bool is_inside = order_[stage] == order_[stage - 1];
    const double bandwidth = (is_inside ? options_.inside : options_.between).bytes_per_s();
    return 2 * (bytes / bandwidth + (is_inside ? 0 : options_.latency.seconds()));
  }

  HetPipeStage StageOf(int stage, int before, int end) const {
    const StageSums sums = SumsOf(states_, before + 1, end);
    const HetPipeServer& server = options_.servers[order_[stage]];
    HetPipeStage made;
    made.server = order_[stage];
    made.time_s = sums.compute_s / server.speed;
    if (stage > 0) made.time_s += TransferSeconds(stage, sums.input_bytes);
    if (stage + 1 < static_cast<int>(order_.size())) {
      made.time_s += TransferSeconds(stage + 1, sums.output_bytes);
    }
    made.memory_bytes =
        std::max(1, in_flight_ - stage) * (sums.parameter_bytes + sums.activation_bytes);
    return made;
  }

  void Improve(int stage, int before, int end, double limit) {
    if (!ComesBefore(states_, before, end)) return;
    const double in_front = before < 0 ? 0 : best_[stage - 1][before].slowest_s;
    Prefix& best = best_[stage][end];
    if (in_front >= best.slowest_s || in_front > limit) return;
    const HetPipeStage made = StageOf(stage, before, end);
    if (made.memory_bytes > static_cast<double>(options_.servers[made.server].memory.count())) {
      return;
    }
    const double slowest = std::max(in_front, made.time_s);
    if (slowest < best.slowest_s) best = {slowest, before};
  }

  VirtualWorker Collect() const {
    VirtualWorker worker;
    worker.in_flight = in_flight_;
    double all_s = 0;
    int end = states_.size() - 1;
    for (auto stage = static_cast<int>(order_.size()) - 1; stage >= 0; --stage) {
      const int before = best_[stage][end].before;
      worker.stages.push_back(StageOf(stage, before, end));
      worker.stages.back().nodes = NodesBetween(states_, before, end);
      all_s += worker.stages.back().time_s;
      worker.bottleneck_s = std::max(worker.bottleneck_s, worker.stages.back().time_s);
      end = before;
    }
    std::reverse(worker.stages.begin(), worker.stages.end());
    worker.rate_per_s = std::min(1 / worker.bottleneck_s, in_flight_ / all_s);
    return worker;
  }

  const AntichainStates& states_;
  const HetPipeOptions& options_;
  const std::vector<int>& order_;  // server by stage
  const int in_flight_;
  const StopSign& stop_;
  std::vector<std::vector<Prefix>> best_;  // by stage, by last state
};

std::vector<std::vector<int>> Halves(const std::vector<HetPipeServer>& servers) {
  std::vector<int> by_speed(servers.size());
  std::iota(by_speed.begin(), by_speed.end(), 0);
  std::stable_sort(by_speed.begin(), by_speed.end(),
                   [&](int a, int b) { return servers[a].speed > servers[b].speed; });
  std::vector<std::vector<int>> workers;
  for (size_t fast = 0; fast < servers.size() / 2; ++fast) {
    std::vector<int> gpus(servers[0].devices / 2, by_speed[fast]);
    gpus.resize(servers[0].devices, by_speed[servers.size() - 1 - fast]);
    workers.insert(workers.end(), 2, gpus);
  }
  return workers;
}

// Tries all orders of the GPUs and sets `fastest` to the worker whose slowest stage is fastest.
// `fastest` is valid even if this throws Stopped.
void TryOrders(const AntichainStates& states, const HetPipeOptions& options, std::vector<int> order,
               int in_flight, const StopSign& stop, std::optional<VirtualWorker>& fastest) {
  std::sort(order.begin(), order.end());
  do {
    const double limit = fastest ? fastest->bottleneck_s : std::numeric_limits<double>::max();
    std::optional<VirtualWorker> cut =
        WorkerCutter(states, options, order, in_flight, stop).Cut(limit);
    if (cut && (!fastest || cut->bottleneck_s < fastest->bottleneck_s)) fastest = std::move(cut);
  } while (std::next_permutation(order.begin(), order.end()));
}

bool IsFaster(const VirtualWorker& worker, const std::optional<VirtualWorker>& best) {
  return !best || worker.rate_per_s > best->rate_per_s;
}

}  // namespace

double WaveRate(std::span<const VirtualWorker> workers) {
  CHECK(!workers.empty());
  const auto slowest =
      std::min_element(workers.begin(), workers.end(),
                       [](const auto& a, const auto& b) { return a.rate_per_s < b.rate_per_s; });
  return static_cast<double>(workers.size()) * slowest->rate_per_s;
}

double AddedRate(std::span<const VirtualWorker> workers) {
  double rate = 0;
  for (const VirtualWorker& worker : workers) rate += worker.rate_per_s;
  return rate;
}

std::vector<std::vector<int>> VirtualWorkerGpus(const HetPipeOptions& options) {
  const std::vector<HetPipeServer>& servers = options.servers;
  const bool is_even = std::all_of(servers.begin(), servers.end(), [&](const HetPipeServer& s) {
    return s.devices == servers[0].devices;
  });
  std::vector<std::vector<int>> workers;
  switch (options.policy) {
    case VirtualWorkerPolicy::kNodePartition:
      for (size_t s = 0; s < servers.size(); ++s) {
        workers.emplace_back(servers[s].devices, static_cast<int>(s));
      }
      break;
    case VirtualWorkerPolicy::kEqualDistribution:
      if (is_even) {
        std::vector<int> one_each(servers.size());
        std::iota(one_each.begin(), one_each.end(), 0);
        workers.assign(servers[0].devices, one_each);
      }
      break;
    case VirtualWorkerPolicy::kHybrid:
      if (is_even && servers.size() % 2 == 0 && servers[0].devices % 2 == 0) {
        workers = Halves(servers);
      }
      break;
  }
  return workers;
}

std::optional<VirtualWorker> SolveVirtualWorker(const AntichainStates& states,
                                                const HetPipeOptions& options,
                                                const std::vector<int>& gpus,
                                                const StopSign& stop) {
  CHECK(!gpus.empty());
  std::optional<VirtualWorker> best, fastest;
  try {
    for (int in_flight = 1; in_flight <= options.most_in_flight; ++in_flight) {
      fastest.reset();
      TryOrders(states, options, gpus, in_flight, stop, fastest);
      if (!fastest) break;  // more in flight take more memory
      if (IsFaster(*fastest, best)) best = std::move(fastest);
      if (best->in_flight < in_flight && best->rate_per_s * best->bottleneck_s >= 1) break;
    }
  } catch (const Stopped&) {
    if (fastest && IsFaster(*fastest, best)) best = std::move(fastest);
    if (!best) throw;
  }
  return best;
}

}  // namespace stagecraft
