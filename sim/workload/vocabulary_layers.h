// Two parts of a network grow with its vocabulary: the table of token embeddings, with which the
// first layer begins, and the logits with their loss, with which the last layer ends. A plan can
// divide these among its stages, apart from the rest of the two layers.
#pragma once

#include <cstdint>
#include <string>

#include "sim/workload/workload.h"

namespace stagecraft {

// Returns why the vocabulary of a network cannot be divided apart from its other layers, as the end
// of a sentence about the network; empty if it can.
std::string FindVocabularyError(const Workload& workload);

// Return the first or the last layer of a network without FindVocabularyError(), or a layer between
// them. WithoutVocabulary(): less these operators; what the last layer then hands on is the input
// of the logits. VocabularyShare(): these operators alone, with one of `shares` equal parts of the
// rows of the vocabulary, rounded up; it hands on what it looks up.
LayerKind WithoutVocabulary(const LayerKind& layer);
LayerKind VocabularyShare(const LayerKind& layer, int64_t shares);

}  // namespace stagecraft
