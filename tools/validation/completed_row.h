// CompletedRow: a measured row with everything that its simulation needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/step_constants.h"

namespace stagecraft {

// A row with its stack's defaults in place of what it does not state.
struct CompletedRow {
  MeasuredRow row;               // degrees at least 1, words never empty
  RowFacts facts;                // what the columns of the row cannot say
  bool megatron_layers = false;  // as in StackDefaults::megatron_layers
  FrameworkMemory memory;        // that of the stack
  Framework framework;
  StepConstants constants;  // those of the framework are in it
  bool overlap_param_gather = false;
  bool overlap_p2p = true;
  bool overlap_tensor = false;
  ContextExchange context_exchange = ContextExchange::kRing;
  bool post_validation = false;
  bool with_optimizer = true;
  Optimizer optimizer = Optimizer::kAdam;
  int64_t bucket_bytes = 0;
  int gradient_bytes = 0;                  // 0: as usual for the precision
  bool counts_every_rank = false;          // a step of n data-parallel ranks counts as n steps
  double memory_unit = 1;                  // bytes that the row counts as one byte
  double tokens_per_position = 1;          // 2 if tokens of source and target both count
  std::vector<std::string> defaults_used;  // "recompute none", "vocab 50304", ...
};

}  // namespace stagecraft
