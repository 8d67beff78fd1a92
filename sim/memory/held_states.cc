#include "sim/memory/held_states.h"

#include <algorithm>

#include "costmodel/divide.h"

namespace stagecraft {
HeldStates::HeldStates(const Plan& plan, const Workload& workload, int stage,
                       const StateSharing& sharing, const FrameworkMemory& framework)
    : plan_(plan), workload_(workload), stage_(stage), sharing_(sharing) {
  // On one rank, wrapped layers still cast their 32-bit shards before they compute.
  const bool has_casts = framework.wraps_layers && sharing.has_wide_weights;
  gathers_ = sharing.zero >= 3 && (sharing.ranks > 1 || has_casts);
  reduces_ = sharing.zero >= 2 && sharing.updates && (sharing.holders > 1 || has_casts);
  wraps_ = framework.wraps_layers && gathers_;
  // Versions of weights have gradients of their own.
  makes_gradients_ = !framework.keeps_gradients && sharing.updates && sharing.versions == 1 &&
                     !plan.SplitsVocabulary();
  weight_bytes_ = sharing.has_wide_weights && !wraps_ ? kMasterBytes : sharing.working;
}

int HeldStates::OperatorGradientBytes() const {
  return makes_gradients_ && !reduces_ ? plan_.gradient_bytes : 0;
}

int64_t HeldStates::Exchanged(const ParameterCount& parameters) const {
  return (sharing_.ranks > 1 ? parameters.dense : 0) +
         (sharing_.experts > 1 ? parameters.expert : 0);
}

// Shards of 32 bits are cast even where nothing is gathered.
int64_t HeldStates::Gathered(const ParameterCount& parameters) const {
  return wraps_ && sharing_.has_wide_weights ? parameters.Total() : Exchanged(parameters);
}

int64_t HeldStates::Kept(const ParameterCount& parameters) const {
  return DivideUp(parameters.dense, sharing_.ranks) + DivideUp(parameters.expert, sharing_.experts);
}

Bytes HeldStates::StayGathered(std::span<const std::vector<HeldParameters>> parameters) const {
  if (!gathers_) return Bytes();
  const Stage& stage = plan_.stages[stage_];
  int64_t staying = 0;
  for (size_t chunk = 0; chunk < parameters.size(); ++chunk) {
    if (wraps_) staying += Gathered(RootOf(stage.chunks[chunk], parameters[chunk]).all);
    if (plan_.reshard_after_forward) continue;
    for (int l = 0; l < stage.chunks[chunk].count; ++l) {
      const LayerKind& kind = workload_.layer(stage.chunks[chunk].first + l);
      if (wraps_ && kind.role != LayerRole::kBlock) continue;
      const TiedPart tied =
          TiedPartOf(plan_, workload_, stage_, stage.chunks[chunk], stage.chunks[chunk].first + l);
      ParameterCount own = parameters[chunk][l].all;
      own.dense -= std::max(tied.after, tied.elsewhere);
      staying += Gathered(own);
    }
  }
  return Bytes(staying * weight_bytes_);
}

HeldStates::Root HeldStates::RootOf(const LayerRange& chunk,
                                    std::span<const HeldParameters> parameters) const {
  Root root;
  root.own.resize(parameters.size());
  int64_t tied = 0;
  for (int l = chunk.count; l-- > 0;) {
    const LayerKind& kind = workload_.layer(chunk.first + l);
    if (kind.role == LayerRole::kBlock) continue;
    const int64_t table =
        TiedParameters(workload_, chunk.first + l, plan_.stages[stage_].tensor_parallel);
    HeldParameters own = parameters[l];
    if (!plan_.SplitsVocabulary()) {
      own.all.dense -= std::min({own.all.dense, table, tied});
      own.trained.dense -= std::min({own.trained.dense, table, tied});
    }
    tied = std::max(tied, table);
    root.own[l] = own.trained.Total();
    root.all += own.all;
    root.first = l;
    if (kind.is_frozen) continue;
    root.trained += own.trained;
    root.first_trained = l;
  }
  return root;
}

void HeldStates::SetOwn(const LayerKind& kind, const HeldParameters& parameters,
                        const TiedPart& tied, ChunkLayer& layer) const {
  layer.gathers_again = plan_.reshard_after_forward;
  // A layer whose output is known computes nothing.
  if (!kind.is_cached) {
    if (gathers_ && layer.gathers_again) {
      layer.gathered = Bytes(Gathered(parameters.all) * weight_bytes_);
    }
    if (wraps_) layer.gather_buffer = Bytes(Exchanged(parameters.all) * weight_bytes_);
  }
  if (kind.is_frozen || !reduces_) return;
  // The gradient of a table that an earlier layer holds, too, is one tensor until that layer is
  // done.
  const int64_t late = std::max<int64_t>(0, tied.before - tied.after);
  ParameterCount own = parameters.trained;
  own.dense = std::max<int64_t>(0, own.dense - tied.after - late);
  const int64_t element = wraps_ ? sharing_.working : plan_.gradient_bytes;
  const auto whole = [&](const ParameterCount& made) {
    return Bytes((wraps_ ? made.Total() : Exchanged(made)) * element);
  };
  layer.gradients = whole(own);
  layer.last_gradients = whole({.dense = late});
  if (wraps_) layer.reduce_buffer = Bytes(Exchanged(own) * plan_.gradient_bytes);
  if (!makes_gradients_) return;
  ParameterCount kept = parameters.trained;
  kept.dense -= std::max(tied.before, tied.elsewhere);
  layer.made = Bytes(Kept(kept) * plan_.gradient_bytes);
}

void HeldStates::SetRoot(const Root& root, std::vector<ChunkLayer>& layers) const {
  if (root.first < 0) return;
  layers[root.first].gather_buffer = Bytes(Exchanged(root.all) * weight_bytes_);
  if (root.first_trained < 0 || !reduces_) return;
  ChunkLayer& last = layers[root.first_trained];
  last.last_buffer = Bytes(Exchanged(root.trained) * plan_.gradient_bytes);
  if (makes_gradients_) last.last_made = Bytes(Kept(root.trained) * plan_.gradient_bytes);
}

void HeldStates::Set(const LayerRange& chunk, std::span<const HeldParameters> parameters,
                     std::vector<ChunkLayer>& layers) const {
  const Root root = wraps_ ? RootOf(chunk, parameters) : Root();
  for (int l = 0; l < chunk.count; ++l) {
    const LayerKind& kind = workload_.layer(chunk.first + l);
    ChunkLayer& layer = layers[l];
    if (!wraps_ || kind.role == LayerRole::kBlock) {
      SetOwn(kind, parameters[l],
             TrainedTiedPartOf(plan_, workload_, stage_, chunk, chunk.first + l), layer);
      continue;
    }
    layer.gathers_again = false;
    if (!kind.is_frozen && reduces_) layer.last_gradients = Bytes(root.own[l] * sharing_.working);
  }
  SetRoot(root, layers);
}

void HeldStates::SetShare(const LayerKind& kind, const HeldParameters& parameters,
                          ChunkLayer& layer) const {
  SetOwn(kind, parameters, {}, layer);
  if (!gathers_) return;
  layer.gathers_again = true;
  layer.gathered = Bytes(Gathered(parameters.all) * weight_bytes_);
}

}  // namespace stagecraft
