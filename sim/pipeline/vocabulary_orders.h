// The passes and exchanges of a pipeline whose stages each hold a part of the vocabulary:
// vocabulary parallelism (Yeung et al., "Balancing Pipeline Parallelism with Vocabulary
// Parallelism", MLSys 2025), and the interlaced pipeline of nnScaler (Lin et al., OSDI 2024) with
// which they compare it.
//
// With p stages, b s tokens of a micro-batch, h features of each and V words, a stage holds V / p
// rows of the token table (its embedding chunk) and of the output projection (its output chunk).
// Every stage runs these passes for every micro-batch:
//   forward of the embedding chunk    looks up the tokens whose rows it holds;
//   forward of the output chunk       the logits b s V / p of its rows, and their softmax with the
//                                     largest logit and the sum of these rows alone;
//   backward of the output chunk      corrects the softmax by the maximum and the sum over all
//                                     stages; gradients of the last stage's output, of which this
//                                     is one of p summands, and of its rows;
//   backward of the embedding chunk   adds the gradients of the tokens whose rows it holds.
// Between them all stages exchange what VocabularyExchangeKind lists.
//
// kVocab1 (the paper's algorithm 1) has two barriers between the last stage's forward and its
// backward: the backward of the output chunk waits for kStatistics, the last stage's backward for
// kInputGradient. Each is hidden behind other passes if one more micro-batch is in flight, which
// makes two more than without a split vocabulary.
// kVocab2 (algorithm 2) has one: the gradient of the last stage's output is linear in the softmax
// of each row, so its input half (kBackwardInput) runs right after the forward with the stage's own
// maximum and sum, and the summands are scaled as they are added up. Then only the gradient of the
// rows (kBackwardWeight) is left, which no stage waits for. One more micro-batch is in flight.
// kInterlaced runs forward and backward of the output chunk one after the other, at the same time
// on all stages, which wait for every exchange: Megatron-LM's tensor-parallel vocabulary, with the
// pipeline's stages as its group. This costs half as many micro-batches in flight again.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/vocabulary_placement.h"

namespace stagecraft {

// What all stages exchange for a micro-batch, in the order in which they do so. Numbers are those
// of one device; b s h ones have the width of activations.
enum class VocabularyExchangeKind : uint8_t {
  kEmbedding,          // adds up b s h: what the stages looked up, for the first stage's forward
  kHidden,             // sends b s h from the last stage, once it has done its forward, to all
  kStatistics,         // per row of 32-bit logits the largest, the sum of exponentials and the
                       // target's: 3 b s
  kInputGradient,      // adds up b s h: the gradient of the last stage's output
  kEmbeddingGradient,  // sends b s h from the first stage, once it has done its backward, to all
};

struct VocabularyExchange {
  VocabularyExchangeKind kind = VocabularyExchangeKind::kEmbedding;
  int32_t micro_batch = 0;
  friend bool operator==(const VocabularyExchange&, const VocabularyExchange&) = default;
};

struct VocabularyOrders {
  PassOrders passes;
  // The order in which every stage takes part in them. Together with the passes it rules out
  // deadlocks.
  std::vector<VocabularyExchange> exchanges;
};

// How many micro-batches more than without a split vocabulary the stages must have in flight for
// WithVocabulary(): 2 for kVocab1, 1 for kVocab2, otherwise 0.
int ExtraInFlight(VocabularyPlacement placement);

// Adds the passes of a split vocabulary to the orders of the other chunks: those of 1F1B or of a
// schedule in a V, with enough micro-batches in flight. Their own order stays as it is. `placement`
// is kVocab1 or kVocab2. Each stage runs the added passes as soon as their inputs are there and it
// is between two others, if a forward takes one unit of time, as do half a backward and an
// exchange, and the added passes take none; the tokens of a micro-batch are looked up two
// micro-batches ahead of the first stage. True times may differ: they stretch this timeline, but
// leave its order. Linear in the passes.
VocabularyOrders WithVocabulary(VocabularyPlacement placement, const ChunkMap& map,
                                const PassOrders& orders, int micro_batches);

// Returns the orders of the interlaced 1F1B. All stages run the vocabulary's passes side by side,
// and between two of them at most one forward and one backward. As a backward takes as long as two
// forwards, it reaches the stage before only in time for its next turn, while forwards pass two
// stages in one turn: stage s of p has up to 1 + 3 (p - 1 - s) / 2 micro-batches in flight.
VocabularyOrders InterlacedOrders(int stages, int micro_batches);

}  // namespace stagecraft
