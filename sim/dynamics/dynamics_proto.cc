#include "sim/dynamics/dynamics_proto.h"

#include <fmt/core.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/early_exit.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/tied_layers.h"

namespace stagecraft {
namespace {

constexpr double kWidestSpread = 10;
constexpr double kLargestConcentration = 1e9;
constexpr double kLargestCapacity = 1e9;

class DynamicsReader {
 public:
  DynamicsReader(const Workload& workload, const std::string& file)
      : workload_(workload), file_(file), shares_frozen_(HomeOfTied(workload) == 0) {
    for (const int kind : workload.layers) {
      const LayerKind& layer = workload.kinds[kind];
      if (layer.role != LayerRole::kBlock) continue;
      ++blocks_;
      for (const Operator& op : layer.operators) {
        has_experts_ |= op.experts > 0;
        has_attention_ |= op.kind == OperatorKind::kAttention;
      }
    }
  }

  Dynamics Read(const DynamicsProto& proto) {
    Dynamics dynamics;
    if (blocks_ == 0) Refuse("want a network with blocks");
    if (proto.has_pruning()) dynamics.pruning = Read(proto.pruning());
    if (proto.has_freezing()) dynamics.freezing = Read(proto.freezing());
    if (proto.has_experts()) dynamics.experts = Read(proto.experts());
    if (proto.has_early_exit()) dynamics.early_exit = Read(proto.early_exit());
    if (proto.has_mixture_of_depths()) dynamics.mixture_of_depths = Read(proto.mixture_of_depths());
    if (proto.has_sparse_attention()) dynamics.sparse_attention = Read(proto.sparse_attention());
    const bool is_drawn = proto.has_pruning() || proto.has_freezing() || proto.has_experts() ||
                          proto.has_early_exit() || proto.has_mixture_of_depths() ||
                          proto.has_sparse_attention();
    if (is_drawn == !proto.states().empty()) {
      Refuse(is_drawn ? "got measured states and other changes, want one or the other"
                      : "got no change, want pruning, freezing, experts, early_exit, "
                        "mixture_of_depths, sparse_attention or states");
    }
    return dynamics;
  }

 private:
  [[noreturn]] void Refuse(std::string_view text) const {
    throw InputError(fmt::format("{}: {}", file_, text));
  }
  template <typename Got>
  [[noreturn]] void Fail(std::string_view key, Got got, std::string_view want) const {
    Refuse(fmt::format("{}: got {}, want {}", key, got, want));
  }
  int64_t AtLeast(std::string_view key, int64_t value, int64_t least) const {
    if (value < least) Fail(key, value, fmt::format("{} or more", least));
    return value;
  }
  // Above 0, and at most `most`.
  double Above0(std::string_view key, double value, double most) const {
    if (!(value > 0 && value <= most)) Fail(key, value, fmt::format("above 0, at most {}", most));
    return value;
  }
  int Blocks(std::string_view key, int value, int most) const {
    if (value < 1 || value > most) {
      Fail(key, value, fmt::format("from 1 to {}, as the network has {} blocks", most, blocks_));
    }
    return value;
  }

  Pruning Read(const PruningProto& proto) const {
    Pruning pruning;
    SparsitySchedule& schedule = pruning.schedule;
    schedule.final = proto.final_sparsity();
    if (!(schedule.final >= 0 && schedule.final < 1)) {
      Fail("pruning.final_sparsity", schedule.final, "from 0 to below 1");
    }
    schedule.initial = proto.initial_sparsity();
    if (!(schedule.initial >= 0 && schedule.initial <= schedule.final)) {
      Fail("pruning.initial_sparsity", schedule.initial, "from 0 to final_sparsity");
    }
    schedule.first_step = AtLeast("pruning.first_step", proto.first_step(), 0);
    schedule.interval = AtLeast("pruning.interval", proto.interval(), 1);
    schedule.end_step = proto.end_step();
    if (schedule.end_step <= schedule.first_step) {
      Fail("pruning.end_step", schedule.end_step,
           fmt::format("above first_step, {}", schedule.first_step));
    }
    pruning.width_spread = proto.width_spread();
    if (!(pruning.width_spread >= 0 && pruning.width_spread <= kWidestSpread)) {
      Fail("pruning.width_spread", pruning.width_spread,
           fmt::format("from 0 to {}", kWidestSpread));
    }
    switch (proto.storage()) {
      case PruningProto::STORAGE_UNSPECIFIED:
      case PruningProto::CSR:
        pruning.storage = WeightStorage::kCsr;
        return pruning;
      case PruningProto::MASKED:
        pruning.storage = WeightStorage::kMasked;
        return pruning;
      default:
        Fail("pruning.storage", static_cast<int>(proto.storage()), "CSR or MASKED");
    }
  }

  Freezing Read(const FreezingProto& proto) const {
    if (blocks_ < 2) Refuse("freezing: got a network of one block, want two or more");
    Freezing freezing;
    freezing.first_step = AtLeast("freezing.first_step", proto.first_step(), 0);
    freezing.interval = AtLeast("freezing.interval", proto.interval(), 1);
    freezing.blocks_each = Blocks("freezing.blocks_each", proto.blocks_each(), blocks_ - 1);
    freezing.most_blocks = Blocks("freezing.most_blocks", proto.most_blocks(), blocks_ - 1);
    freezing.caches_outputs = proto.caches_outputs();
    if (freezing.caches_outputs && shares_frozen_) {
      Refuse(
          "freezing.caches_outputs: got it for a network whose embedding shares weights with "
          "trained layers, which change what frozen blocks hand on, want it left out");
    }
    return freezing;
  }

  ExpertDrift Read(const ExpertDriftProto& proto) const {
    if (!has_experts_) Refuse("experts: got a network without experts, want one that has some");
    ExpertDrift drift;
    drift.concentration =
        Above0("experts.concentration", proto.concentration(), kLargestConcentration);
    drift.interval = AtLeast("experts.interval", proto.interval(), 1);
    if (proto.drift() != 0) drift.drift = Above0("experts.drift", proto.drift(), 1);
    if (proto.capacity_factor() != 0) {
      drift.capacity_factor =
          Above0("experts.capacity_factor", proto.capacity_factor(), kLargestCapacity);
    }
    return drift;
  }

  EarlyExit Read(const EarlyExitProto& proto) const {
    EarlyExit exit;
    exit.first_block = Blocks("early_exit.first_block", proto.first_block(), blocks_ - 1);
    exit.every = Blocks("early_exit.every", proto.every(), blocks_);
    exit.share = proto.share();
    if (!(exit.share > 0 && exit.share < 1)) {
      Fail("early_exit.share", exit.share, "above 0 and below 1");
    }
    exit.first_step = AtLeast("early_exit.first_step", proto.first_step(), 0);
    exit.end_step = AtLeast("early_exit.end_step", proto.end_step(), exit.first_step);
    exit.interval = AtLeast("early_exit.interval", proto.interval(), 1);
    if (!EarlyExitProto::Head_IsValid(proto.head())) {
      Fail("early_exit.head", static_cast<int>(proto.head()), "NONE, OWN or TIED");
    }
    if (proto.head() != EarlyExitProto::HEAD_UNSPECIFIED) {
      exit.head = static_cast<ExitHead>(static_cast<int>(proto.head()) - 1);
    }
    CheckExits(exit);
    return exit;
  }

  // Throws InputError if the network cannot have these exits.
  void CheckExits(const EarlyExit& exit) const {
    std::vector<LayerState> states(workload_.layers.size());
    for (const int layer : LayersWithExit(exit, workload_)) states[layer].exit_head = exit.head;
    Workload with_exits = workload_;
    ApplyLayerStates(file_ + ": early_exit.head", states, with_exits);
  }

  MixtureOfDepths Read(const MixtureOfDepthsProto& proto) const {
    MixtureOfDepths depths;
    depths.capacity = Above0("mixture_of_depths.capacity", proto.capacity(), 1);
    depths.every = Blocks("mixture_of_depths.every", proto.every(), blocks_);
    return depths;
  }

  SparseAttention Read(const SparseAttentionProto& proto) const {
    if (!has_attention_) {
      Refuse("sparse_attention: got a network without attention, want one that has some");
    }
    SparseAttention attention;
    attention.least_density = Above0("sparse_attention.least_density", proto.least_density(), 1);
    attention.most_density = proto.most_density();
    if (!(attention.most_density >= attention.least_density && attention.most_density <= 1)) {
      Fail("sparse_attention.most_density", attention.most_density, "from least_density to 1");
    }
    attention.interval = AtLeast("sparse_attention.interval", proto.interval(), 1);
    return attention;
  }

  const Workload& workload_;
  const std::string& file_;
  const bool shares_frozen_;  // whether the embedding shares its weights
  int blocks_ = 0;
  bool has_experts_ = false, has_attention_ = false;
};

}  // namespace

Dynamics DynamicsFromProto(const DynamicsProto& proto, const Workload& workload,
                           const std::string& file) {
  return DynamicsReader(workload, file).Read(proto);
}

}  // namespace stagecraft
