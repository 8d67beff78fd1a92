// Adds what the stages exchange if they share the vocabulary.
#pragma once

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"

namespace stagecraft {

// Adds the exchanges of sim/pipeline/vocabulary_orders.h as tasks that hold a lane of their own on
// every stage; passes wait for those whose results they need. With kInterlaced no stage computes
// while it takes part in one.
void AddVocabularyExchanges(LoweringContext& context, const LoweredPasses& passes);

}  // namespace stagecraft
