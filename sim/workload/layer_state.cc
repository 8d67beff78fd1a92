#include "sim/workload/layer_state.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "costmodel/check.h"
#include "sim/workload/layer_changes.h"
#include "sim/workload/tied_layers.h"

namespace stagecraft {
namespace {

// The state of a layer, and what follows from those of others.
struct Variant {
  bool is_frozen = false;
  bool returns_gradient = true;
  LayerState state;
  double arriving = 1;  // of its rows that reach it, and
  double leaving = 1;   // that it hands on
};

// All by which variants of a kind differ; an order, too.
auto KeyOf(const Variant& variant) {
  const LayerState& state = variant.state;
  return std::tuple(variant.is_frozen, variant.returns_gradient, state.is_cached, state.token_share,
                    state.weight_density, state.attention_density, state.expert_rows,
                    state.adapter_rank, state.exit_head, variant.arriving, variant.leaving);
}
using Key = decltype(KeyOf(Variant()));

std::string Tell(int layer, const Workload& workload) {
  return std::to_string(layer) + " (" + workload.layer(layer).name + ")";
}

[[noreturn]] void Fail(const std::string& key, const std::string& what) {
  throw InputError(key + ": got " + what);
}

void CheckTrained(const std::string& key, const std::vector<Variant>& variants,
                  const Workload& workload) {
  if (std::all_of(variants.begin(), variants.end(),
                  [](const Variant& variant) { return variant.is_frozen; })) {
    Fail(key, "all " + std::to_string(variants.size()) + " layers of " + workload.name +
                  ", want one or more that are trained");
  }
}

void CheckTied(const std::string& key, const std::vector<Variant>& variants,
               const Workload& workload) {
  const auto is_whole = [&](int layer) {
    return !variants[layer].is_frozen && variants[layer].state.adapter_rank == 0;
  };
  const std::vector<int> tied = TiedLayers(workload);
  const auto trained = std::find_if(tied.begin(), tied.end(), is_whole);
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    if (!variants[layer].state.is_detached) continue;
    if (std::find(tied.begin(), tied.end(), layer) == tied.end()) {
      Fail(key, "a detached layer " + Tell(layer, workload) +
                    ", which shares no weights with others, want it frozen");
    }
    if (trained == tied.end()) {
      Fail(key, "a detached layer " + Tell(layer, workload) +
                    ", but no trained one that shares its weights, want it frozen");
    }
    if (variants[layer].returns_gradient) {
      Fail(key, "a detached layer " + Tell(layer, workload) +
                    " behind trained ones, want all layers before it frozen");
    }
  }
  for (const int layer : tied) {
    if (trained == tied.end() || is_whole(layer) || variants[layer].state.is_detached) continue;
    const bool may_detach = variants[layer].is_frozen && !variants[layer].returns_gradient;
    Fail(key,
         "only one of layers " + Tell(std::min(layer, *trained), workload) + " and " +
             Tell(std::max(layer, *trained), workload) + " of " + workload.name +
             ", want both or none" +
             (may_detach ? ", or a layer state with " + std::to_string(layer) + " detached" : "") +
             ": their weights are one tensor");
  }
}

void CheckCached(const std::string& key, const std::vector<Variant>& variants,
                 const Workload& workload) {
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    if (!variants[layer].state.is_cached) continue;
    if (!variants[layer].is_frozen) {
      Fail(key, "a cached output of layer " + Tell(layer, workload) +
                    ", which is trained, want it frozen, since it changes otherwise");
    }
    if (variants[layer].state.is_detached) {
      Fail(key, "a cached output of layer " + Tell(layer, workload) +
                    ", whose weights are trained where another layer uses them, want it computed, "
                    "since it changes");
    }
    if (layer > 0 && !variants[layer - 1].state.is_cached) {
      Fail(key, "a cached output of layer " + Tell(layer, workload) + ", but none of layer " +
                    Tell(layer - 1, workload) + ", which would run in vain, want both cached");
    }
  }
}

void CheckRows(const std::string& key, const std::vector<Variant>& variants,
               const Workload& workload) {
  const int last = workload.layer_count() - 1;
  if (variants[last].state.token_share <= 0) {
    Fail(key, "no rows for layer " + Tell(last, workload) +
                  ", want some, since its loss trains the others");
  }
  for (int layer = 0; layer < last; ++layer) {
    const Variant& variant = variants[layer];
    const bool is_passed = variant.state.token_share < variant.leaving;
    if (!is_passed || workload.layer(layer).role == LayerRole::kBlock) continue;
    Fail(key, "fewer rows for layer " + Tell(layer, workload) +
                  " than for layers behind it, want at least as many: rows pass blocks alone by");
  }
}

void CheckExits(const std::string& key, const std::vector<Variant>& variants,
                const Workload& workload) {
  const int last = workload.layer_count() - 1;
  int last_block = last;
  while (last_block > 0 && workload.layer(last_block).role != LayerRole::kBlock) --last_block;
  const LayerKind& head = workload.layer(last);
  for (int layer = 0; layer <= last; ++layer) {
    const LayerState& state = variants[layer].state;
    if (state.exit_head == ExitHead::kNone) continue;
    const LayerKind& kind = workload.layer(layer);
    const auto refuse = [&](const std::string& what) {
      Fail(key, std::string("an exit with ") +
                    (state.exit_head == ExitHead::kOwn ? "an own" : "a tied") +
                    " head behind layer " + Tell(layer, workload) + what);
    };
    if (!CanHeadExits(head)) {
      refuse(" of " + workload.name +
             ", want a network whose last layer is a head with a single loss");
    }
    if (kind.role != LayerRole::kBlock || layer >= last_block) {
      refuse(", want it behind blocks before the last one");
    }
    if (HasExit(kind)) refuse(", which has an exit already, want no other");
    if (!ReadsOutputOf(head, workload.layer(last - 1), kind)) {
      refuse(", want it behind a layer that hands on what the head of " + workload.name + " reads");
    }
    if (state.adapter_rank > 0) refuse(", which has adapters, want one of the two");
    if (state.is_cached) refuse(", whose output is cached, want its output computed");
    const int home = HomeOfTied(workload);
    const bool shares_other = home == 0 && head.tied_parameters == 0;
    if (state.exit_head == ExitHead::kTied && (shares_other || kind.tied_parameters > 0)) {
      refuse(", but the weights that layers of " + workload.name +
             " share are not those of its head, want an own head");
    }
  }
}

// Masks change nothing, and what a layer has nothing of does not make it another kind.
LayerState Effective(const LayerState& state, const LayerKind& kind) {
  LayerState effective = state;
  const auto has = [&](auto is_such) {
    return std::any_of(kind.operators.begin(), kind.operators.end(), is_such);
  };
  const bool has_matrix = kind.role == LayerRole::kBlock &&
                          has([](const Operator& op) { return op.kind == OperatorKind::kLinear; });
  if (!has_matrix || state.storage == WeightStorage::kMasked) effective.weight_density = 1;
  effective.storage = effective.weight_density < 1 ? WeightStorage::kCsr : WeightStorage::kMasked;
  if (!has_matrix) effective.adapter_rank = 0;
  const bool attends = has([](const Operator& op) { return op.kind == OperatorKind::kAttention; });
  if (!attends) effective.attention_density = 1;
  if (!has([](const Operator& op) { return op.experts > 0; })) effective.expert_rows.clear();
  return effective;
}

std::vector<Variant> VariantsOf(std::span<const LayerState> states, const Workload& workload) {
  std::vector<Variant> variants;
  bool is_behind_trained = false;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    Variant& variant = variants.emplace_back();
    variant.is_frozen =
        workload.layer(layer).is_frozen || !states[layer].is_trained || states[layer].is_detached;
    variant.state = Effective(states[layer], workload.layer(layer));
    if (variant.is_frozen) variant.state.adapter_rank = 0;
    variant.state.is_trained = !variant.is_frozen;
    variant.returns_gradient = is_behind_trained;
    is_behind_trained = is_behind_trained || !variant.is_frozen;
  }
  // Without frozen layers, the gradient of the network's input counts like any other.
  const bool trains_first = !variants[0].is_frozen && variants[0].state.adapter_rank == 0;
  if (trains_first) variants[0].returns_gradient = true;
  double behind = 0;  // the largest share of the rows that a later layer computes
  for (size_t layer = variants.size(); layer-- > 0;) {
    Variant& variant = variants[layer];
    const bool is_last = layer + 1 == variants.size();
    variant.leaving = is_last ? 1 : behind;
    behind = std::max(behind, variant.state.token_share);
    variant.arriving = behind;
  }
  return variants;
}

// `head` is the last layer of the network, in its state.
LayerKind Changed(LayerKind kind, const Variant& variant, const LayerKind& head) {
  const LayerState& state = variant.state;
  kind.is_frozen = variant.is_frozen;
  kind.returns_gradient = variant.returns_gradient;
  kind.is_cached = state.is_cached;
  kind.boundary_share = variant.leaving;
  if (state.weight_density < 1) StoreSparse(state.weight_density, kind);
  if (state.adapter_rank > 0) AddAdapters(state.adapter_rank, kind);
  if (state.attention_density < 1) TakeScores(state.attention_density, kind);
  if (!state.expert_rows.empty()) RouteRows(state.expert_rows, kind);
  if (state.token_share < variant.leaving) {
    AddRouter(state.token_share, variant.arriving, kind);
  } else if (state.token_share < 1) {
    TakeRows(state.token_share, kind);
  }
  if (state.exit_head != ExitHead::kNone) {
    AddExit(head, state.exit_head, variant.arriving, variant.leaving, kind);
  }
  return kind;
}

// A name for the layers of a kind that are of this variant, which no kind has yet.
std::string NameOf(const std::string& kind, const Variant& variant, std::set<std::string>& taken) {
  std::string name = kind;
  const LayerState& state = variant.state;
  if (variant.is_frozen) {
    name += variant.returns_gradient ? "_frozen_behind_trained" : "_frozen";
  } else if (!variant.returns_gradient) {
    name += "_first_trained";
  }
  if (state.is_cached) name += "_cached";
  if (state.weight_density < 1) name += "_sparse";
  if (state.adapter_rank > 0) name += "_adapted";
  if (state.token_share < 1) name += "_on_some_rows";
  if (state.exit_head != ExitHead::kNone) name += "_with_exit";
  std::string unique = name;
  for (int number = 2; !taken.insert(unique).second; ++number) {
    unique = name + "_" + std::to_string(number);
  }
  return unique;
}

}  // namespace

const char* Name(WeightStorage storage) {
  return storage == WeightStorage::kMasked ? "masked" : "csr";
}

void ApplyLayerStates(const std::string& key, std::span<const LayerState> states,
                      Workload& workload) {
  CHECK(states.size() == workload.layers.size());
  const std::vector<Variant> variants = VariantsOf(states, workload);
  const Key usual = KeyOf(Variant());
  if (std::all_of(variants.begin(), variants.end(),
                  [&](const Variant& variant) { return KeyOf(variant) == usual; })) {
    return;
  }
  if (workload.is_profile()) {
    const bool freezes = std::any_of(variants.begin(), variants.end(),
                                     [](const Variant& variant) { return variant.is_frozen; });
    Fail(key, freezes ? "frozen layers of the profile " + workload.name +
                            ", want none: it does not divide the time of backwards"
                      : "states of layers of the profile " + workload.name +
                            ", want none: it says nothing of its operators but their times");
  }
  CheckTrained(key, variants, workload);
  CheckTied(key, variants, workload);
  CheckExits(key, variants, workload);
  CheckCached(key, variants, workload);
  CheckRows(key, variants, workload);
  std::vector<std::set<Key>> of_kind(workload.kinds.size());
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    of_kind[workload.layers[layer]].insert(KeyOf(variants[layer]));
  }
  std::set<std::string> taken;
  for (const LayerKind& kind : workload.kinds) taken.insert(kind.name);
  const std::vector<LayerKind> plain = workload.kinds;
  LayerKind head = workload.layer(workload.layer_count() - 1);
  head.is_frozen = variants.back().is_frozen;
  std::map<std::pair<int, Key>, int> known;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const int kind = workload.layers[layer];
    const Key variant = KeyOf(variants[layer]);
    const auto [entry, is_new] = known.try_emplace({kind, variant}, kind);
    if (is_new) {
      // The kind itself stands for the usual variant or, if it has none, for another one.
      const bool keeps_kind =
          variant == (of_kind[kind].contains(usual) ? usual : *of_kind[kind].begin());
      LayerKind changed = Changed(plain[kind], variants[layer], head);
      if (keeps_kind) {
        workload.kinds[kind] = std::move(changed);
      } else {
        changed.name = NameOf(plain[kind].name, variants[layer], taken);
        entry->second = static_cast<int>(workload.kinds.size());
        workload.kinds.push_back(std::move(changed));
      }
    }
    workload.layers[layer] = entry->second;
  }
}

void FreezeLayers(const std::string& key, const std::vector<bool>& is_frozen, Workload& workload) {
  std::vector<LayerState> states(is_frozen.size());
  for (size_t layer = 0; layer < states.size(); ++layer) {
    states[layer].is_trained = !is_frozen[layer];
  }
  ApplyLayerStates(key, states, workload);
}

bool DetachTied(const Workload& workload, int end, std::vector<LayerState>& states) {
  const std::vector<int> layers = TiedLayers(workload);
  const bool is_trained = std::any_of(layers.begin(), layers.end(), [&](int layer) {
    return layer >= end && states[layer].is_trained;
  });
  if (!is_trained || layers.front() >= end) return false;
  for (const int layer : layers) {
    if (layer < end) states[layer].is_detached = true;
  }
  return true;
}

}  // namespace stagecraft
