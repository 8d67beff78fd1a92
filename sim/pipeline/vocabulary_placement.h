// VocabularyPlacement: which stages hold the vocabulary, that is the table of token embeddings and
// the output projection.
#pragma once

namespace stagecraft {

// kFirstLast: the table in the first stage, the projection in the last. With the others every one
// of p stages holds a p-th of both and works on every micro-batch; they are described in
// vocabulary_orders.h. PlanProto.Vocabulary of proto/plan.proto has the same names in the same
// order.
enum class VocabularyPlacement { kFirstLast, kVocab1, kVocab2, kInterlaced };

constexpr const char* Name(VocabularyPlacement placement) {
  constexpr const char* kNames[] = {"first-last", "vocab-1", "vocab-2", "interlaced"};
  return kNames[static_cast<int>(placement)];
}

constexpr bool IsSplit(VocabularyPlacement placement) {
  return placement != VocabularyPlacement::kFirstLast;
}

// A stage's parts of a split vocabulary count as two chunks more, after those of the ChunkMap.
inline constexpr int kVocabularyChunks = 2;
constexpr int EmbeddingChunk(int chunks) { return chunks; }
constexpr int OutputChunk(int chunks) { return chunks + 1; }

}  // namespace stagecraft
