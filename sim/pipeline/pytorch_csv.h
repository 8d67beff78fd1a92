// PyTorch's pipelining schedules as CSV (torch.distributed.pipelining's _PipelineScheduleRuntime,
// torchtitan's pipeline_parallel_schedule_csv): one row per rank, one cell per time step, which is
// empty if the rank waits. A cell is <stage><op><micro-batch> with op F (forward), B (backward), I
// or W (its input or weight gradients), or two of them beside each other, "(0F1;1B0)OVERLAP_F_B".
// What PyTorch calls stages and ranks are parts and stages here.
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

// Whether the first cell that is not empty looks like a cell of such a schedule.
bool IsPytorchCsv(std::string_view text);

// Skips cells of communication (SEND_F, RECV_F, SEND_B, RECV_B, UNSHARD, RESHARD, REDUCE_GRAD),
// which follows from the order of the passes. Throws InputError, which begins with `name`, line and
// column, for other cells that are no passes, for stages that no rank or two ranks have (so there
// can be no pipelines in two directions), for stages that are placed neither looped nor as a wave,
// and for what FindOrderError() finds.
PytorchSchedule ReadPytorchCsv(std::string_view text, const std::string& name);

// Writes each pass into the first step in which it can run if every pass, and every pair beside
// each other, takes one step. Throws InputError if the orders deadlock, or if `map` has several
// chains, which this format cannot hold.
std::string WritePytorchCsv(const ChunkMap& map, std::span<const PassOrder> orders,
                            int micro_batches);

}  // namespace stagecraft
