// PassAlong() for drafts: what ranks of a team tell each other about plans (packing.h).
#pragma once

#include "search/packing.h"
#include "search/plans/plan_draft.h"

namespace stagecraft {

template <typename Bytes, Is<DraftStage> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [replicas, tensor, blocks, recompute] = value;
  bytes(replicas, tensor, blocks, recompute);
}

template <typename Bytes, Is<PlanDraft> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [schedule, chunks, context, expert, zero, micro_batch, sequence_parallel, rank_order,
         overlaps_tensor, overlaps_gather, stages] = value;
  bytes(schedule, chunks, context, expert, zero, micro_batch, sequence_parallel, rank_order,
        overlaps_tensor, overlaps_gather, stages);
}

}  // namespace stagecraft
