// What one rank computes and keeps of the first and the last layer if the stages share the
// vocabulary (sim/pipeline/vocabulary_orders.h).
#pragma once

#include <vector>

#include "costmodel/link.h"
#include "costmodel/op.h"
#include "sim/pipeline/vocabulary_orders.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns a layer as the stage that holds it runs it: without the operators of the vocabulary if
// spec.vocabulary_shares says that all stages share them.
LayerKind OwnLayer(const LayerKind& layer, const ShardSpec& spec);

// Returns one of spec.vocabulary_shares shares of a part, as a layer.
LayerKind SharedLayer(const Workload& workload, VocabularyPart part, const ShardSpec& spec);

// Returns the passes of that layer on one rank. Only with kVocab2 is the backward of the logits
// divided: its weight half then first scales the stage's softmax, and its summand of the input
// gradient, by the maximum and the sum of all stages, which it reads and writes once each.
LayerSteps ShardShared(const Workload& workload, VocabularyPart part, const ShardSpec& spec,
                       VocabularyPlacement placement);

// Returns the collectives of an exchange among one rank of each stage, which `fabric` connects, one
// after another. kHidden and kEmbeddingGradient are broadcasts, the others all-reduces, even if one
// stage alone needs the sum, for which a reduce would do: so are those of Megatron-LM's
// vocabulary-parallel layers. kStatistics is three of them, as the sum needs the maximum.
std::vector<Op> ExchangeOps(const Workload& workload, VocabularyExchangeKind kind,
                            const ShardSpec& spec, const Fabric& fabric);

}  // namespace stagecraft
