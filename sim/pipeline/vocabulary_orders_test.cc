#include "sim/pipeline/vocabulary_orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/order_text.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/schedule/task_tag.h"

namespace stagecraft {
namespace {

using Kind = VocabularyExchangeKind;

constexpr VocabularyPlacement kSplit[] = {
    VocabularyPlacement::kVocab1, VocabularyPlacement::kVocab2, VocabularyPlacement::kInterlaced};
constexpr int16_t kEmbedding = EmbeddingChunk(1);
constexpr int16_t kOutput = OutputChunk(1);

VocabularyOrders Orders(VocabularyPlacement placement, int stages, int micro_batches) {
  PipelineScheduleOptions options;
  options.vocabulary = placement;
  return MakeVocabularyOrders(PipelineSchedule::kOneForwardOneBackward, options,
                              ChunkMap::Looped(stages, 1), micro_batches);
}

// In units of a forward; embedding passes (1F, 1B) and output passes (2F, 2B) take none. Exchanges
// (lower case: e embedding, h hidden, s statistics, i input gradient) take one.
//
//            0  1   2   3   4   5   6   7   8
// stage 0:      [F0][F1][F2][F3] 2B0         [B0 …
//                            2F0  2F1
// stage 1:         [F0][F1][F2] 2B0 [  B0  ]
//                            2F0  2F1
// exchanges:   e0        h0 s0  i0
TEST(VocabularyOrdersTest, TwoBarriersAreHiddenBehindTwoMicroBatches) {
  const VocabularyOrders orders = Orders(VocabularyPlacement::kVocab1, 2, 4);
  EXPECT_EQ(OrderToText(orders.passes[0]),
            "1F0 1F1 F0 1F2 F1 1F3 F2 2F0 F3 2B0 2F1 2B1 2F2 2B2 B0 2F3 1B0 B1 2B3 B2 1B1 1B2 B3 "
            "1B3");
  EXPECT_EQ(OrderToText(orders.passes[1]),
            "1F0 1F1 1F2 1F3 F0 F1 2F0 F2 2B0 2F1 2B1 2F2 B0 2B2 F3 B1 2F3 1B0 B2 2B3 1B1 B3 1B2 "
            "1B3");
  const std::vector<VocabularyExchange> begin(orders.exchanges.begin(),
                                              orders.exchanges.begin() + 7);
  EXPECT_EQ(begin, (std::vector<VocabularyExchange>{{Kind::kEmbedding, 0},
                                                    {Kind::kEmbedding, 1},
                                                    {Kind::kEmbedding, 2},
                                                    {Kind::kHidden, 0},
                                                    {Kind::kEmbedding, 3},
                                                    {Kind::kHidden, 1},
                                                    {Kind::kStatistics, 0}}));
}

TEST(VocabularyOrdersTest, OneBarrierTakesTheInputGradientWithTheLogits) {
  const VocabularyOrders orders = Orders(VocabularyPlacement::kVocab2, 2, 4);
  EXPECT_EQ(OrderToText(orders.passes[1]),
            "1F0 1F1 1F2 1F3 F0 F1 2F0 2I0 2F1 2I1 2W0 B0 2W1 F2 B1 2F2 2I2 1B0 F3 2W2 B2 2F3 2I3 "
            "1B1 2W3 B3 1B2 1B3");
}

TEST(VocabularyOrdersTest, InterlacedStagesRunTheVocabularySideBySide) {
  const VocabularyOrders orders = Orders(VocabularyPlacement::kInterlaced, 3, 3);
  EXPECT_EQ(OrderToText(orders.passes[0]),
            "1F0 F0 1F1 F1 1F2 2F0 2B0 F2 2F1 2B1 2F2 2B2 B0 1B0 B1 1B1 B2 1B2");
  EXPECT_EQ(OrderToText(orders.passes[1]),
            "1F0 1F1 F0 1F2 2F0 2B0 F1 2F1 2B1 F2 B0 2F2 2B2 B1 1B0 B2 1B1 1B2");
  EXPECT_EQ(OrderToText(orders.passes[2]),
            "1F0 1F1 F0 1F2 2F0 2B0 B0 F1 2F1 2B1 B1 F2 2F2 2B2 B2 1B0 1B1 1B2");
  for (const PassOrder& order : orders.passes) {
    PassOrder vocabulary;
    std::copy_if(order.begin(), order.end(), std::back_inserter(vocabulary),
                 [](const Pass& pass) { return pass.chunk > 0; });
    EXPECT_EQ(OrderToText(vocabulary), "1F0 1F1 1F2 2F0 2B0 2F1 2B1 2F2 2B2 1B0 1B1 1B2");
  }
}

int PeakInFlightOf(const PassOrder& order) {
  PassOrder of_blocks;
  std::copy_if(order.begin(), order.end(), std::back_inserter(of_blocks),
               [](const Pass& pass) { return pass.chunk == 0; });
  return PeakInFlight(of_blocks);
}

TEST(VocabularyOrdersTest, EveryBarrierTakesOneMicroBatchMoreInFlight) {
  constexpr int kStages = 8;
  for (int stage = 0; stage < kStages; ++stage) {
    const auto peak = [&](VocabularyPlacement placement) {
      return PeakInFlightOf(Orders(placement, kStages, 40).passes[stage]);
    };
    EXPECT_EQ(peak(VocabularyPlacement::kVocab1), kStages - stage + 2);
    EXPECT_EQ(peak(VocabularyPlacement::kVocab2), kStages - stage + 1);
    const int behind = kStages - 1 - stage;
    EXPECT_EQ(peak(VocabularyPlacement::kInterlaced), 1 + (3 * behind + 1) / 2);
  }
}

TEST(VocabularyOrdersTest, EveryPassAndEveryExchangeComesOnce) {
  for (const VocabularyPlacement placement : kSplit) {
    const bool is_halved = placement == VocabularyPlacement::kVocab2;
    for (const auto& [stages, micro_batches] :
         {std::pair(2, 1), std::pair(2, 7), std::pair(5, 3), std::pair(7, 20)}) {
      SCOPED_TRACE(std::string(Name(placement)) + " " + std::to_string(stages));
      const VocabularyOrders orders = Orders(placement, stages, micro_batches);
      for (const PassOrder& order : orders.passes) {
        std::set<std::tuple<int, Phase, int>> seen;
        for (const Pass& pass : order) seen.insert({pass.chunk, pass.phase, pass.micro_batch});
        EXPECT_EQ(seen.size(), order.size());
        EXPECT_EQ(order.size(), static_cast<size_t>((is_halved ? 7 : 6) * micro_batches));
      }
      std::set<std::pair<Kind, int>> seen;
      for (const auto& [kind, micro_batch] : orders.exchanges) seen.insert({kind, micro_batch});
      EXPECT_EQ(seen.size(), orders.exchanges.size());
      EXPECT_EQ(seen.size(), static_cast<size_t>(5 * micro_batches));
    }
  }
}

// Times of a pass through the blocks of a stage, of the output chunk's passes, and of an exchange;
// embedding passes take none.
struct Times {
  int forward, backward, logits, logits_gradients, exchange;
};

// Runs the passes of every stage and the exchanges in order, each as soon as it can.
class Runner {
 public:
  Runner(const VocabularyOrders& orders, bool is_one_barrier, const Times& times)
      : orders_(orders),
        is_one_barrier_(is_one_barrier),
        times_(times),
        last_(static_cast<int>(orders.passes.size()) - 1) {}

  // Returns when all is done; no value if passes wait for each other in a circle.
  std::optional<int> Run() {
    const size_t stages = orders_.passes.size();
    std::vector<size_t> next(stages, 0);
    std::vector<int> free(stages, 0);
    size_t next_exchange = 0;
    int free_exchange = 0;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (size_t s = 0; s < stages; ++s) {
        const PassOrder& order = orders_.passes[s];
        for (; next[s] < order.size(); ++next[s], goes_on = true) {
          const Pass& pass = order[next[s]];
          const std::optional<int> ready = ReadyAt(static_cast<int>(s), pass);
          if (!ready) break;
          free[s] = std::max(free[s], *ready) + TimeOf(pass);
          passes_[{static_cast<int>(s), pass.chunk, pass.phase, pass.micro_batch}] = free[s];
        }
      }
      for (; next_exchange < orders_.exchanges.size(); ++next_exchange, goes_on = true) {
        const auto& [kind, b] = orders_.exchanges[next_exchange];
        const std::optional<int> ready = ReadyAt(kind, b);
        if (!ready) break;
        free_exchange = std::max(free_exchange, *ready) + times_.exchange;
        exchanges_[{kind, b}] = free_exchange;
      }
    }
    for (size_t s = 0; s < stages; ++s) {
      if (next[s] < orders_.passes[s].size()) return {};
    }
    if (next_exchange < orders_.exchanges.size()) return {};
    return std::max(free_exchange, *std::max_element(free.begin(), free.end()));
  }

 private:
  std::optional<int> EndOf(int stage, int chunk, Phase phase, int b) const {
    const auto found = passes_.find({stage, chunk, phase, b});
    return found == passes_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<int> EndOf(Kind kind, int b) const {
    const auto found = exchanges_.find({kind, b});
    return found == exchanges_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<int> EndOfAll(int chunk, Phase phase, int b) const {
    int end = 0;
    for (int stage = 0; stage <= last_; ++stage) {
      const std::optional<int> own = EndOf(stage, chunk, phase, b);
      if (!own) return {};
      end = std::max(end, *own);
    }
    return end;
  }

  std::optional<int> ReadyAt(int stage, const Pass& pass) const {
    const bool is_forward = pass.phase == Phase::kForward;
    const int b = pass.micro_batch;
    if (pass.chunk == kEmbedding) return is_forward ? 0 : EndOf(Kind::kEmbeddingGradient, b);
    if (pass.chunk == kOutput) {
      if (pass.phase == Phase::kBackwardInput) return 0;
      return EndOf(is_forward ? Kind::kHidden : Kind::kStatistics, b);
    }
    if (is_forward) {
      return stage == 0 ? EndOf(Kind::kEmbedding, b) : EndOf(stage - 1, 0, pass.phase, b);
    }
    return stage == last_ ? EndOf(Kind::kInputGradient, b) : EndOf(stage + 1, 0, pass.phase, b);
  }

  std::optional<int> ReadyAt(Kind kind, int b) const {
    switch (kind) {
      case Kind::kEmbedding:
        return EndOfAll(kEmbedding, Phase::kForward, b);
      case Kind::kHidden:
        return EndOf(last_, 0, Phase::kForward, b);
      case Kind::kStatistics:
        return EndOfAll(kOutput, Phase::kForward, b);
      case Kind::kInputGradient:
        return EndOfAll(kOutput, is_one_barrier_ ? Phase::kBackwardInput : Phase::kBackward, b);
      case Kind::kEmbeddingGradient:
        return EndOf(0, 0, Phase::kBackward, b);
    }
    return {};
  }

  int TimeOf(const Pass& pass) const {
    const bool is_forward = pass.phase == Phase::kForward;
    if (pass.chunk == 0) return is_forward ? times_.forward : times_.backward;
    if (pass.chunk == kEmbedding) return 0;
    if (is_forward) return times_.logits;
    return pass.phase == Phase::kBackward ? times_.logits_gradients : times_.logits_gradients / 2;
  }

  const VocabularyOrders& orders_;
  const bool is_one_barrier_;
  const Times times_;
  const int last_;
  std::map<std::tuple<int, int, Phase, int>, int> passes_;
  std::map<std::pair<Kind, int>, int> exchanges_;
};

std::optional<int> TimeOf(VocabularyPlacement placement, int stages, int micro_batches,
                          const Times& times) {
  const VocabularyOrders orders = Orders(placement, stages, micro_batches);
  return Runner(orders, placement == VocabularyPlacement::kVocab2, times).Run();
}

TEST(VocabularyOrdersTest, NothingDeadlocksWhateverTheTimes) {
  for (const VocabularyPlacement placement : kSplit) {
    for (const Times& times : {Times{1, 2, 0, 0, 1}, Times{1, 1, 9, 9, 30}, Times{5, 40, 1, 2, 0},
                               Times{30, 7, 1, 2, 3}, Times{0, 0, 0, 0, 1}}) {
      for (const int stages : {2, 3, 4, 9}) {
        for (const int micro_batches : {1, 2, 3, 5, 24}) {
          EXPECT_TRUE(TimeOf(placement, stages, micro_batches, times).has_value())
              << Name(placement) << ", " << stages << " stages, " << micro_batches;
        }
      }
    }
  }
}

// The stages never wait once the pipeline is full, if exchanges take less than a forward.
TEST(VocabularyOrdersTest, AFullPipelineNeverWaitsForABarrier) {
  for (const VocabularyPlacement placement :
       {VocabularyPlacement::kVocab1, VocabularyPlacement::kVocab2}) {
    for (const Times& times :
         {Times{10, 20, 0, 0, 1}, Times{10, 20, 1, 2, 5}, Times{10, 20, 5, 10, 2},
          Times{10, 22, 1, 2, 1}, Times{10, 18, 1, 2, 1}}) {
      const int each = times.forward + times.backward + times.logits + times.logits_gradients;
      for (const int stages : {2, 4, 8, 16}) {
        const int micro_batches = 5 * stages;
        const int shorter = *TimeOf(placement, stages, micro_batches, times);
        const int longer = *TimeOf(placement, stages, 2 * micro_batches, times);
        EXPECT_EQ(longer - shorter, micro_batches * each)
            << Name(placement) << ", " << stages << " stages, forward " << times.forward
            << ", backward " << times.backward << ", logits " << times.logits;
      }
    }
  }
}

}  // namespace
}  // namespace stagecraft
