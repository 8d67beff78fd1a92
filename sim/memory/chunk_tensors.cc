#include "sim/memory/chunk_tensors.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "sim/memory/caching_allocator.h"

namespace stagecraft {
namespace {

PassSummary Summarize(const PassTensors& pass, bool makes_gradients) {
  PassSummary summary;
  int64_t activation = 0;
  int64_t& gradient = summary.net_gradient;
  for (const TensorEvent& event : pass.events) {
    if (event.role == TensorRole::kGradient && !makes_gradients) continue;
    summary.net += event.change;
    if (event.role == TensorRole::kActivation) activation += event.change;
    if (event.role == TensorRole::kGradient) gradient += event.change;
    if (summary.net <= summary.peak) continue;
    summary.peak = summary.net;
    summary.peak_activation = activation;
    summary.peak_gradient = gradient;
    summary.peak_at = static_cast<double>(event.step) / std::max(1, pass.steps);
  }
  return summary;
}

class Joiner {
 public:
  Joiner(std::span<const ChunkLayer> layers, ChunkTensors& chunk) : layers_(layers), chunk_(chunk) {
    for (const ChunkLayer& layer : layers) {
      kept_before_.push_back(chunk_.kept);
      chunk_.kept += layer.tensors->kept;
      temporaries_ = std::max(temporaries_, layer.tensors->tensors - layer.tensors->kept);
    }
    // The tensors of a forward that runs again exist beside those of the backward for which it
    // runs.
    repeated_ = chunk_.kept + temporaries_;
    states_ = repeated_ + temporaries_;
    chunk_.tensors = states_ + kStates * static_cast<int>(layers.size());
  }

  void Join(Phase phase) {
    pass_ = {};
    if (phase == Phase::kForward) {
      JoinForward();
    } else {
      JoinBackward(phase);
    }
    ChunkPass& pass = chunk_.passes[static_cast<size_t>(phase)];
    pass.summary = Summarize(pass_, true);
    pass.later = Summarize(pass_, false);
    pass.tensors = std::move(pass_);
  }

 private:
  enum State {
    kGathered,
    kGatherBuffer,
    kGradients,
    kReduceBuffer,
    kMade,
    kLastGradients,
    kLastBuffer,
    kLastMade,
    kStates
  };

  int count() const { return static_cast<int>(layers_.size()); }

  // While a layer computes, the weights of the next one are gathered.
  void JoinForward() {
    Hold(0, kGathered, true);
    for (int l = 0; l < count(); ++l) {
      Hold(l + 1, kGathered, true);
      Append(Phase::kForward, l);
      Hold(l, kGathered, false);
    }
  }

  // Does the same, and while a layer computes, the gradients of the layer that ran before it are
  // reduced.
  void JoinBackward(Phase phase) {
    const bool gathers = IsBackward(phase);
    const bool reduces = MakesWeightGradients(phase);
    int first = 0;
    while (first < count() && !layers_[first].has_backward) ++first;
    if (first == count()) return;
    const auto gather = [&](int l, bool is_made) {
      if (gathers && l >= first && layers_[l].gathers_again) Hold(l, kGathered, is_made);
    };
    gather(count() - 1, true);
    for (int l = count(); l-- > first;) {
      gather(l - 1, true);
      if (reduces) Hold(l, kGradients, true);
      if (reduces) Hold(l, kLastGradients, true);
      Append(phase, l);
      if (reduces) Hold(l, kMade, true);
      if (reduces) CopyIn(l);
      gather(l, false);
      if (reduces) Reduced(l + 1);
    }
    if (!reduces) return;
    Reduced(first);
    ReduceLast(first);
  }

  // Reduces the gradients that wait for the end of the backward.
  void ReduceLast(int first) {
    for (int l = first; l < count(); ++l) Hold(l, kLastBuffer, true);
    for (int l = first; l < count(); ++l) Hold(l, kLastGradients, false);
    for (int l = first; l < count(); ++l) Hold(l, kLastMade, true);
    for (int l = first; l < count(); ++l) Hold(l, kLastBuffer, false);
  }

  // Moves the gradients of layer `l` into the buffer in which they are reduced, if it has one.
  void CopyIn(int l) {
    if (layers_[l].reduce_buffer == Bytes()) return;
    Hold(l, kReduceBuffer, true);
    Hold(l, kGradients, false);
  }
  void Reduced(int l) {
    if (l >= count()) return;
    Hold(l, layers_[l].reduce_buffer == Bytes() ? kGradients : kReduceBuffer, false);
  }

  void Append(Phase phase, int l) {
    const LayerTensors& layer = *layers_[l].tensors;
    const PassTensors& own = layer.passes[static_cast<size_t>(phase)];
    const int repeats = IsBackward(phase) ? layers_[l].repeats : 0;
    const std::span<const TensorEvent> events(own.events);
    const size_t before = repeats > 0 ? layer.before_repeated : events.size();
    AppendEvents(events.first(before), l, chunk_.kept);
    for (int r = l - repeats + 1; r <= l; ++r) {
      AppendEvents(layers_[r].tensors->repeated.events, r, repeated_);
      pass_.steps += layers_[r].tensors->repeated.steps;
    }
    AppendEvents(events.subspan(before), l, chunk_.kept);
    pass_.steps += own.steps;
  }

  // Appends the events of layer `l`, whose temporaries are numbered from `temporaries` on.
  void AppendEvents(std::span<const TensorEvent> events, int l, int temporaries) {
    const int kept = layers_[l].tensors->kept;
    for (TensorEvent event : events) {
      event.tensor += event.tensor < kept ? kept_before_[l] : temporaries - kept;
      event.step += pass_.steps;
      pass_.events.push_back(event);
    }
  }

  // A reduction writes its result in the pool of its buffer.
  static TensorPool PoolOfMade(Bytes buffer) {
    return buffer == Bytes() ? TensorPool::kCompute : TensorPool::kReduce;
  }

  // Does nothing if there is no layer `l`.
  void Hold(int l, State state, bool is_made) {
    if (l < 0 || l >= count()) return;
    const ChunkLayer& layer = layers_[l];
    const auto change = [&](State state, Bytes size, TensorRole role, TensorPool pool) {
      const int64_t bytes = CachingAllocator::Rounded(size).count();
      if (bytes == 0) return;
      pass_.events.push_back({.change = is_made ? bytes : -bytes,
                              .tensor = states_ + kStates * l + state,
                              .step = pass_.steps,
                              .role = role,
                              .pool = pool});
    };
    constexpr TensorRole kOwn = TensorRole::kWorkspace;
    constexpr TensorRole kLeft = TensorRole::kGradient;
    switch (state) {
      case kGathered:
        change(kGatherBuffer, layer.gather_buffer, kOwn, TensorPool::kGather);
        return change(kGathered, layer.gathered, kOwn, TensorPool::kCompute);
      case kGradients:
        return change(state, layer.gradients, kOwn, TensorPool::kCompute);
      case kReduceBuffer:
        return change(state, layer.reduce_buffer, kOwn, TensorPool::kReduce);
      case kMade:
        return change(state, layer.made, kLeft, PoolOfMade(layer.reduce_buffer));
      case kLastGradients:
        return change(state, layer.last_gradients, kOwn, TensorPool::kCompute);
      case kLastBuffer:
        return change(state, layer.last_buffer, kOwn, TensorPool::kReduce);
      case kLastMade:
        return change(state, layer.last_made, kLeft, PoolOfMade(layer.last_buffer));
      default:
        CHECK(false);
    }
  }

  std::span<const ChunkLayer> layers_;
  ChunkTensors& chunk_;
  std::vector<int> kept_before_;
  int temporaries_ = 0;  // of the layer that has the most
  int repeated_ = 0;     // number of the first temporary of a forward that runs again
  int states_ = 0;
  PassTensors pass_;
};

}  // namespace

ChunkTensors JoinLayers(std::span<const ChunkLayer> layers) {
  ChunkTensors chunk;
  Joiner joiner(layers, chunk);
  for (const Phase phase :
       {Phase::kForward, Phase::kBackward, Phase::kBackwardInput, Phase::kBackwardWeight}) {
    joiner.Join(phase);
  }
  return chunk;
}

}  // namespace stagecraft
