#include "sim/pipeline/vocabulary_orders.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Kind = VocabularyExchangeKind;

// Units of time, of which a forward takes one.
constexpr int kNever = -1;
constexpr int kExchangeTime = 1;
constexpr int kLookedUpAhead = 2;  // micro-batches

int TimeOf(Phase phase) { return phase == Phase::kBackward ? 2 : 1; }

// Runs a pipeline in units of time and notes what every stage does.
class Inserter {
 public:
  Inserter(VocabularyPlacement placement, const ChunkMap& map, const PassOrders& orders,
           int micro_batches)
      : is_one_barrier_(placement == VocabularyPlacement::kVocab2),
        map_(map),
        given_(orders),
        micro_batches_(micro_batches),
        stages_(orders.size()),
        forward_(static_cast<size_t>(map.length()), std::vector<int>(micro_batches, kNever)),
        backward_(forward_),
        of_(micro_batches) {
    result_.passes.resize(orders.size());
    for (int b = 0; b < std::min(kLookedUpAhead, micro_batches); ++b) of_[b].look_up = 0;
  }

  VocabularyOrders Run() {
    size_t passes = 0;
    for (const PassOrder& order : given_) passes += order.size();
    const size_t vocabulary = stages_.size() * static_cast<size_t>(micro_batches_);
    // Whatever waits, waits for something that runs, so that this is enough.
    const size_t most = 4 * (passes + vocabulary) + 4;
    for (int now = 0; !IsDone(); ++now) {
      CHECK(static_cast<size_t>(now) < most);
      for (int stage = 0; stage < map_.stages(); ++stage) RunStage(stage, now);
    }
    std::stable_sort(exchanges_.begin(), exchanges_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [time, exchange] : exchanges_) result_.exchanges.push_back(exchange);
    return std::move(result_);
  }

 private:
  struct StageState {
    size_t next = 0;  // in its given order
    int free = 0;
    // The next micro-batch of each pass of the vocabulary.
    int look_up = 0, logits = 0, logits_gradient = 0, embedding_gradient = 0;
  };
  // When a micro-batch's inputs of each kind of pass are there, and how many stages have run it.
  struct MicroBatch {
    int look_up = kNever, embedded = kNever, hidden = kNever, statistics = kNever,
        input_gradient = kNever, embedding_gradient = kNever;
    int looked_up = 0, logits = 0, logits_gradients = 0;
  };

  bool IsDone() const {
    for (size_t stage = 0; stage < stages_.size(); ++stage) {
      const StageState& state = stages_[stage];
      if (state.next < given_[stage].size() || state.look_up < micro_batches_ ||
          state.logits < micro_batches_ || state.logits_gradient < micro_batches_ ||
          state.embedding_gradient < micro_batches_) {
        return false;
      }
    }
    return true;
  }

  static bool IsThere(int time, int now) { return time != kNever && time <= now; }

  // Notes an exchange, and returns when its result is there.
  int Exchange(Kind kind, int micro_batch, int time) {
    exchanges_.push_back({time, {kind, micro_batch}});
    return time + kExchangeTime;
  }

  void Add(int stage, Phase phase, int chunk, int micro_batch) {
    result_.passes[stage].push_back({phase, static_cast<int16_t>(chunk), micro_batch});
  }

  void RunStage(int stage, int now) {
    if (stages_[stage].free > now) return;
    if (is_one_barrier_) {
      RunLogits(stage, now);
      RunLogitsGradients(stage, now);
    } else {
      RunLogitsGradients(stage, now);
      RunLogits(stage, now);
    }
    RunLookUps(stage, now);
    RunEmbeddingGradients(stage, now);
    RunGiven(stage, now);
  }

  void RunLookUps(int stage, int now) {
    for (int& b = stages_[stage].look_up; b < micro_batches_; ++b) {
      MicroBatch& of = of_[b];
      if (!IsThere(of.look_up, now)) return;
      Add(stage, Phase::kForward, EmbeddingChunk(map_.chunks()), b);
      if (++of.looked_up == map_.stages()) of.embedded = Exchange(Kind::kEmbedding, b, now);
    }
  }

  void RunLogits(int stage, int now) {
    const int chunk = OutputChunk(map_.chunks());
    for (int& b = stages_[stage].logits; b < micro_batches_; ++b) {
      MicroBatch& of = of_[b];
      if (!IsThere(of.hidden, now)) return;
      Add(stage, Phase::kForward, chunk, b);
      if (is_one_barrier_) Add(stage, Phase::kBackwardInput, chunk, b);
      if (++of.logits < map_.stages()) continue;
      of.statistics = Exchange(Kind::kStatistics, b, now);
      if (is_one_barrier_) of.input_gradient = Exchange(Kind::kInputGradient, b, now);
    }
  }

  void RunLogitsGradients(int stage, int now) {
    const Phase phase = is_one_barrier_ ? Phase::kBackwardWeight : Phase::kBackward;
    for (int& b = stages_[stage].logits_gradient; b < micro_batches_; ++b) {
      MicroBatch& of = of_[b];
      if (!IsThere(of.statistics, now)) return;
      Add(stage, phase, OutputChunk(map_.chunks()), b);
      if (is_one_barrier_ || ++of.logits_gradients < map_.stages()) continue;
      of.input_gradient = Exchange(Kind::kInputGradient, b, now);
    }
  }

  void RunEmbeddingGradients(int stage, int now) {
    for (int& b = stages_[stage].embedding_gradient; b < micro_batches_; ++b) {
      if (!IsThere(of_[b].embedding_gradient, now)) return;
      Add(stage, Phase::kBackward, EmbeddingChunk(map_.chunks()), b);
    }
  }

  // Starts the next pass of the given order if its input is there.
  void RunGiven(int stage, int now) {
    StageState& state = stages_[stage];
    if (state.next == given_[stage].size()) return;
    const Pass& pass = given_[stage][state.next];
    const int part = map_.PartAt({stage, pass.chunk}).index;
    const int b = pass.micro_batch;
    if (!IsThere(InputOf(pass, part), now)) return;
    ++state.next;
    state.free = now + TimeOf(pass.phase);
    result_.passes[stage].push_back(pass);
    if (pass.phase == Phase::kForward) {
      forward_[part][b] = state.free;
      const bool is_last = part + 1 == map_.length();
      if (is_last) of_[b].hidden = Exchange(Kind::kHidden, b, state.free);
      if (part == 0 && b + kLookedUpAhead < micro_batches_) of_[b + kLookedUpAhead].look_up = now;
    } else if (IsBackward(pass.phase)) {
      backward_[part][b] = state.free;
      if (part > 0) return;
      of_[b].embedding_gradient = Exchange(Kind::kEmbeddingGradient, b, state.free);
    }
  }

  // When the input of a pass of the given order is there.
  int InputOf(const Pass& pass, int part) const {
    const int b = pass.micro_batch;
    if (pass.phase == Phase::kForward) return part == 0 ? of_[b].embedded : forward_[part - 1][b];
    if (!IsBackward(pass.phase)) return 0;
    return part + 1 == map_.length() ? of_[b].input_gradient : backward_[part + 1][b];
  }

  const bool is_one_barrier_;
  const ChunkMap map_;
  const PassOrders& given_;
  const int micro_batches_;
  std::vector<StageState> stages_;
  std::vector<std::vector<int>> forward_, backward_;  // by part and micro-batch: when it is done
  std::vector<MicroBatch> of_;                        // by micro-batch
  std::vector<std::pair<int, VocabularyExchange>> exchanges_;  // with their times
  VocabularyOrders result_;
};

}  // namespace

int ExtraInFlight(VocabularyPlacement placement) {
  switch (placement) {
    case VocabularyPlacement::kVocab1:
      return 2;
    case VocabularyPlacement::kVocab2:
      return 1;
    case VocabularyPlacement::kFirstLast:
    case VocabularyPlacement::kInterlaced:
      break;
  }
  return 0;
}

VocabularyOrders WithVocabulary(VocabularyPlacement placement, const ChunkMap& map,
                                const PassOrders& orders, int micro_batches) {
  CHECK(map.chains() == 1 && ExtraInFlight(placement) > 0);
  return Inserter(placement, map, orders, micro_batches).Run();
}

// Turn t is the time between the vocabulary's passes of micro-batches t and t + 1. The last stage
// runs the backward of micro-batch t in it and the forward of t + 1, with d stages between it and
// another one, that one runs the backward of t - d and the forward of t + 1 + d / 2 (rounded down):
// the backward first if d is even.
VocabularyOrders InterlacedOrders(int stages, int micro_batches) {
  constexpr int kChunks = 1;
  constexpr auto kEmbedding = static_cast<int16_t>(EmbeddingChunk(kChunks));
  constexpr auto kOutput = static_cast<int16_t>(OutputChunk(kChunks));
  const auto is_one = [&](int b) { return b >= 0 && b < micro_batches; };
  VocabularyOrders result;
  result.passes.resize(stages);
  const auto run = [&](const Pass& pass) {
    if (!is_one(pass.micro_batch)) return;
    for (PassOrder& order : result.passes) order.push_back(pass);
  };
  const auto exchange = [&](Kind kind, int b) {
    if (is_one(b)) result.exchanges.push_back({kind, b});
  };
  const int farthest = stages - 1;
  for (int turn = -1 - farthest / 2; turn <= micro_batches + farthest; ++turn) {
    const int enters = turn + 1 + farthest / 2;
    const int leaves = turn - 1 - farthest;
    run({Phase::kForward, kEmbedding, enters});
    exchange(Kind::kEmbedding, enters);
    exchange(Kind::kHidden, turn);
    run({Phase::kForward, kOutput, turn});
    exchange(Kind::kStatistics, turn);
    run({Phase::kBackward, kOutput, turn});
    exchange(Kind::kInputGradient, turn);
    exchange(Kind::kEmbeddingGradient, leaves);
    run({Phase::kBackward, kEmbedding, leaves});
    for (int stage = 0; stage < stages; ++stage) {
      const int d = farthest - stage;
      const Pass forward{Phase::kForward, 0, turn + 1 + d / 2};
      const Pass backward{Phase::kBackward, 0, turn - d};
      PassOrder& order = result.passes[stage];
      const bool is_even = d % 2 == 0;
      for (const Pass& pass : {is_even ? backward : forward, is_even ? forward : backward}) {
        if (is_one(pass.micro_batch)) order.push_back(pass);
      }
    }
  }
  return result;
}

}  // namespace stagecraft
