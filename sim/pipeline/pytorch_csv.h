// PyTorch's pipelining schedules as CSV (torch.distributed.pipelining's
// _PipelineScheduleRuntime, torchtitan's pipeline_parallel_schedule_csv): one row per
// rank, one cell per time step, empty where the rank waits. A cell is
// <stage><op><micro-batch> with op F (forward), B (backward), I or W (its input or
// weight gradients), or two of them beside each other, "(0F1;1B0)OVERLAP_F_B". Its
// stages are parts here, its ranks stages.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

struct PytorchSchedule {
  ChunkMap map;  // Looped() or Wave()
  int micro_batches = 0;
  PassOrders orders;
};

// Whether the first cell that is not empty looks like one of a schedule.
bool IsPytorchCsv(std::string_view text);

// What cells say of communication (SEND_F, RECV_F, SEND_B, RECV_B, UNSHARD, RESHARD,
// REDUCE_GRAD) follows from the order of the rest and is passed over. Throws InputError,
// which begins with `name`, line and column: for cells that are none of these, stages
// that no rank or two ranks have (so no pipelines in two directions), stages dealt out
// neither looped nor as a wave, and what FindOrderError() finds.
PytorchSchedule ReadPytorchCsv(std::string_view text, const std::string& name);

// Each pass in the first step in which it can run if every pass, and every two beside
// each other, took one step. Throws InputError where the orders deadlock, or where `map`
// has several chains, which this format cannot hold.
std::string WritePytorchCsv(const ChunkMap& map, std::span<const PassOrder> orders,
                            int micro_batches);

}  // namespace stagecraft
