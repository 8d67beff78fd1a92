#include "sim/shard/vocabulary_shard.h"

#include <cstddef>
#include <cstdint>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/workload/vocabulary_layers.h"

namespace stagecraft {
namespace {

// The largest logit of a row, the sum of its exponentials and the target's logit; the bytes of
// each.
constexpr size_t kStatistics = 3;
constexpr int64_t kStatisticBytes = 4;

const LayerKind& LayerOf(const Workload& workload, VocabularyPart part) {
  return workload.layer(part == VocabularyPart::kEmbedding ? 0 : workload.layer_count() - 1);
}

// What kVocab2 does to the softmax of the stage's logits and to the input gradient that it has made
// of it.
Step ScaleStep(const LayerKind& output, const ShardSpec& spec) {
  const Operator& logits = output.operators[0];
  const int64_t elements = DivideUp(logits.out_features, spec.tensor) + logits.in_features;
  const int64_t bytes = 2 * spec.RowsOf(logits) * elements * spec.ElementBytes();
  return {Op::Elementwise(spec.Moved(bytes), /*kernels=*/2), kWeightGradient};
}

}  // namespace

LayerKind OwnLayer(const LayerKind& layer, const ShardSpec& spec) {
  return spec.vocabulary_shares > 1 ? WithoutVocabulary(layer) : layer;
}

LayerKind SharedLayer(const Workload& workload, VocabularyPart part, const ShardSpec& spec) {
  CHECK(spec.vocabulary_shares > 1);
  return VocabularyShare(LayerOf(workload, part), spec.vocabulary_shares);
}

LayerSteps ShardShared(const Workload& workload, VocabularyPart part, const ShardSpec& spec,
                       VocabularyPlacement placement) {
  const LayerKind layer = SharedLayer(workload, part, spec);
  LayerSteps steps = ShardLayer(layer, spec);
  if (part == VocabularyPart::kOutput && placement == VocabularyPlacement::kVocab2) {
    steps.backward.push_back(ScaleStep(layer, spec));
  }
  return steps;
}

std::vector<Op> ExchangeOps(const Workload& workload, VocabularyExchangeKind kind,
                            const ShardSpec& spec, const Fabric& fabric) {
  const auto embedded = [&] {
    return BoundaryBytes(SharedLayer(workload, VocabularyPart::kEmbedding, spec), spec);
  };
  const auto hidden = [&] {
    return BoundaryBytes(OwnLayer(LayerOf(workload, VocabularyPart::kOutput), spec), spec);
  };
  switch (kind) {
    case VocabularyExchangeKind::kEmbedding:
      return {Op::Collective(OpKind::kAllReduce, embedded(), fabric)};
    case VocabularyExchangeKind::kHidden:
      return {Op::Collective(OpKind::kBroadcast, hidden(), fabric)};
    case VocabularyExchangeKind::kStatistics: {
      const LayerKind& output = LayerOf(workload, VocabularyPart::kOutput);
      const int64_t rows = spec.RowsOf(output.operators[output.operators.size() - 1]);
      return std::vector(kStatistics,
                         Op::Collective(OpKind::kAllReduce, Bytes(kStatisticBytes * rows), fabric));
    }
    case VocabularyExchangeKind::kInputGradient:
      return {Op::Collective(OpKind::kAllReduce, hidden(), fabric)};
    case VocabularyExchangeKind::kEmbeddingGradient:
      return {Op::Collective(OpKind::kBroadcast, embedded(), fabric)};
  }
  CHECK(false);
  return {};
}

}  // namespace stagecraft
