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

// The token table, and the output projection with the loss. A stage's shares of a split vocabulary
// count as two chunks more, after those of the ChunkMap.
enum class VocabularyPart { kEmbedding, kOutput };
inline constexpr int kVocabularyChunks = 2;
constexpr int ChunkOf(VocabularyPart part, int chunks) { return chunks + static_cast<int>(part); }
constexpr VocabularyPart PartOf(int chunk, int chunks) {
  return static_cast<VocabularyPart>(chunk - chunks);
}
constexpr int EmbeddingChunk(int chunks) { return ChunkOf(VocabularyPart::kEmbedding, chunks); }
constexpr int OutputChunk(int chunks) { return ChunkOf(VocabularyPart::kOutput, chunks); }

}  // namespace stagecraft
