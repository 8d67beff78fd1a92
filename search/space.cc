#include "search/space.h"

#include <algorithm>
#include <utility>

#include "search/rank_places.h"
#include "sim/cluster.h"
#include "sim/layer_division.h"
#include "sim/pipeline/make_orders.h"

namespace stagecraft {
namespace {

constexpr int kMostContext = 16;
constexpr int64_t kLeastTokens = 256;  // of a sample on a rank, where nothing is asked for

template <typename T>
std::vector<T> Divisors(T number, T most) {
  std::vector<T> divisors;
  for (T d = 1; d <= std::min(number, most); ++d) {
    if (number % d == 0) divisors.push_back(d);
  }
  return divisors;
}

template <typename T>
std::vector<T> Or(const std::vector<T>& given, std::vector<T> usual) {
  return given.empty() ? std::move(usual) : given;
}

class Enumeration {
 public:
  explicit Enumeration(const SearchProblem& problem)
      : problem_(problem),
        workload_(problem.workload),
        choices_(problem.choices),
        experts_(ExpertCount(problem.workload)),
        one_stage_(OrderOfOneStage(problem)) {}

  std::vector<PlanDegrees> Run() {
    for (const int devices : DeviceCounts()) {
      for (const int tensor : Or(choices_.tensor, Divisors(workload_.heads, kMostTensor))) {
        if (!TensorFits(tensor) || devices % tensor != 0) continue;
        for (const bool splits_tokens : TokenSplits(tensor)) {
          for (const int context : Or(choices_.context, ContextDegrees())) {
            if (devices / tensor % context != 0) continue;
            if (!ContextFits(tensor, context, splits_tokens)) continue;
            AddPipelines(devices, tensor, context, splits_tokens);
          }
        }
      }
    }
    return std::move(found_);
  }

 private:
  std::vector<int> DeviceCounts() const {
    const Cluster& cluster = problem_.cluster;
    std::vector<int> counts{cluster.device_count()};
    if (!choices_.fewer_devices) return counts;
    for (int nodes = cluster.node_count() / 2; nodes > 0; nodes /= 2) {
      counts.push_back(nodes == cluster.node_count() ? counts[0] : cluster.first_device(nodes));
    }
    for (int devices = counts.back() / 2; devices > 0; devices /= 2) counts.push_back(devices);
    return counts;
  }

  std::vector<int> ContextDegrees() const {
    std::vector<int> degrees{1};
    for (int d = 2; d <= kMostContext && problem_.given.sequence / d >= kLeastTokens; d *= 2) {
      degrees.push_back(d);
    }
    return degrees;
  }

  bool TensorFits(int tensor) const {
    return FindTensorError(workload_, tensor).empty() && (tensor == 1 || !workload_.is_profile());
  }

  // With sequence parallelism, and without.
  std::vector<bool> TokenSplits(int tensor) const {
    const PlanDegrees& given = problem_.given;
    if (given.sequence_parallel >= 0 || tensor == 1) return {given.sequence_parallel != 0};
    if (given.overlap_tensor) return {true};
    return {true, false};
  }

  bool ContextFits(int tensor, int context, bool splits_tokens) const {
    const PlanDegrees& given = problem_.given;
    const TokenDivision division{given.sequence, tensor, context, splits_tokens,
                                 given.context_exchange};
    return FindTokenErrors(workload_, division).empty() &&
           (context == 1 || !workload_.is_profile());
  }

  void AddPipelines(int devices, int tensor, int context, bool splits_tokens) {
    const int left = devices / tensor / context;
    for (const int pipeline : Or(choices_.pipeline, Divisors(left, workload_.layer_count()))) {
      if (left % pipeline != 0 || pipeline > workload_.layer_count()) continue;
      const int data = left / pipeline;
      if (problem_.given.global_batch % data != 0) continue;
      if (problem_.given.data != 0 && problem_.given.data != data) continue;
      PlanDegrees degrees = problem_.given;
      degrees.devices = devices;
      degrees.tensor = tensor;
      degrees.context = context;
      degrees.pipeline = pipeline;
      degrees.data = data;
      degrees.sequence_parallel = splits_tokens && tensor > 1 ? 1 : 0;
      for (const std::string& rank_order : RankOrders(degrees)) {
        degrees.rank_order = rank_order;
        AddExperts(degrees);
      }
    }
  }

  // Of those that make no difference one.
  std::vector<std::string> RankOrders(const PlanDegrees& degrees) const {
    std::vector<std::string> orders = RankOrdersToTry(problem_);
    const PlacedSets sets{.devices = degrees.devices,
                          .set_devices = degrees.tensor * degrees.context,
                          .stages = degrees.pipeline,
                          .replicas = degrees.data,
                          .are_all = true};
    if (degrees.devices <= AlikeDevices(problem_.cluster, 0)) {
      orders.resize(1);
    } else if (Allows(orders, std::string(kDefaultRankOrder)) &&
               !RankOrderMatters(problem_.cluster, sets)) {
      std::erase(orders, kStagesFirstRankOrder);
    }
    return orders;
  }

  void AddExperts(PlanDegrees degrees) {
    const int ranks = degrees.data * degrees.context;
    const std::vector<int> usual = experts_ > 0 ? Divisors(experts_, ranks) : std::vector<int>{1};
    for (const int expert : Or(choices_.expert, usual)) {
      if (ranks % expert != 0 || (expert > 1 && (experts_ <= 0 || experts_ % expert != 0)))
        continue;
      degrees.expert = expert;
      AddMicroBatches(degrees);
    }
  }

  void AddMicroBatches(PlanDegrees degrees) {
    const int64_t own = degrees.global_batch / degrees.data;
    for (const int64_t size : Or(choices_.micro_batches, Divisors(own, kMostMicroBatch))) {
      if (own % size != 0) continue;
      degrees.micro_batch = size;
      for (const PipelineOrder order : OrdersToTry(problem_)) AddChunks(order, degrees);
    }
  }

  void AddChunks(PipelineOrder order, PlanDegrees degrees) {
    if (degrees.pipeline == 1 && order != one_stage_) return;
    degrees.order = order;
    std::vector<int> usual(kMostChunks);
    for (int i = 0; i < kMostChunks; ++i) usual[i] = i + 1;
    for (const int chunks : Or(choices_.chunks, usual)) {
      degrees.chunks = chunks;
      const bool is_needless = degrees.pipeline == 1 && chunks > 1;
      if (!is_needless && ChunksFit(degrees)) AddRecomputes(degrees);
    }
  }

  bool ChunksFit(const PlanDegrees& degrees) const {
    const Placement placement = PlacementOf(degrees.order);
    if (!FindChunkError(degrees.order, placement, degrees.pipeline, degrees.chunks).empty()) {
      return false;
    }
    const ChunkMap map(placement, degrees.pipeline, degrees.chunks);
    const int layers = workload_.layer_count();
    if (map.length() > layers) return false;
    const bool balances_head = problem_.given.balance_head && degrees.pipeline > 1;
    if (balances_head && (degrees.chunks > 1 || layers - 2 < degrees.pipeline)) return false;
    const bool divides = (layers - 2) % map.length() == 0 || layers % map.length() == 0;
    if (choices_.chunks.empty() && degrees.chunks > LeastChunks(degrees.order) && !divides) {
      return false;
    }
    const auto micro_batches =
        static_cast<int>(degrees.global_batch / degrees.data / degrees.micro_batch);
    return FindMicroBatchError(degrees.order, map, micro_batches).empty();
  }

  void AddRecomputes(PlanDegrees degrees) {
    for (const Recompute recompute : RecomputesToTry(problem_)) {
      degrees.recompute = recompute;
      AddSharding(degrees);
    }
  }

  void AddSharding(PlanDegrees degrees) {
    const bool is_alone = degrees.data * degrees.context == 1;
    const bool is_plain = degrees.gradient_sync.method == SyncMethod::kAllReduce;
    const std::vector<int> usual = is_alone || !is_plain || degrees.forward_only
                                       ? std::vector<int>{0}
                                       : std::vector<int>{0, 1, 2, 3};
    // Two copies of a stage's parameters are updated as one.
    const bool has_copies = PlacementOf(degrees.order) == Placement::kBidirectional;
    for (const int zero : Or(choices_.zeros, usual)) {
      if (has_copies && zero > 1) continue;
      degrees.zero = zero;
      found_.push_back(degrees);
    }
  }

  const SearchProblem& problem_;
  const Workload& workload_;
  const Choices& choices_;
  const int experts_;
  const std::optional<PipelineOrder> one_stage_;
  std::vector<PlanDegrees> found_;
};

}  // namespace

std::vector<PipelineOrder> OrdersToTry(const SearchProblem& problem) {
  return Or(problem.choices.orders,
            {PipelineOrder::kOneForwardOneBackward, PipelineOrder::kInterleaved});
}

std::optional<PipelineOrder> OrderOfOneStage(const SearchProblem& problem) {
  const std::vector<PipelineOrder> orders = OrdersToTry(problem);
  if (Allows(orders, PipelineOrder::kOneForwardOneBackward)) {
    return PipelineOrder::kOneForwardOneBackward;
  }
  const auto suits = [](PipelineOrder order) { return LeastChunks(order) == 1; };
  const auto first = std::find_if(orders.begin(), orders.end(), suits);
  return first == orders.end() ? std::nullopt : std::optional(*first);
}

std::vector<Recompute> RecomputesToTry(const SearchProblem& problem) {
  std::vector<Recompute> usual{Recompute::kNone, Recompute::kFull};
  const bool selects = problem.workload.attention == AttentionBackend::kUnfused;
  if (selects) usual.push_back(Recompute::kSelective);
  return Or(problem.choices.recomputes, std::move(usual));
}

std::vector<std::string> RankOrdersToTry(const SearchProblem& problem) {
  return Or(problem.choices.rank_orders, {kDefaultRankOrder, kStagesFirstRankOrder});
}

std::vector<PlanDegrees> EnumerateDegrees(const SearchProblem& problem) {
  return Enumeration(problem).Run();
}

}  // namespace stagecraft
