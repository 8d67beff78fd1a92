// Measured rows for tests.
#pragma once

#include "tools/validation/error_table.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {

// A small GPT on two nodes of eight A100s.
inline MeasuredRow Gpt() {
  MeasuredRow row;
  row.source = "paper";
  row.stack = "megatron-core";
  row.model_kind = "gpt";
  row.layers = 8;
  row.hidden = 1024;
  row.heads = 16;
  row.seq = 1024;
  row.global_batch = 32;
  row.tp = 2;
  row.pp = 4;
  row.dp = 2;
  row.n_gpus = 16;
  row.n_nodes = 2;
  row.gpus_per_node = 8;
  row.gpu_id = "a100-sxm4-80gb";
  row.intra_kind = "nvlink3-nvswitch";
  row.inter_gbit_per_node = "1600";
  row.dtype = "bf16";
  row.metric_kind = "step_time";
  row.value = 1;
  row.is_scored = true;
  return row;
}

// A row of 16 A100s, in bf16 by megatron-core, that measures a time.
inline ValidatedRow TimeRow(const char* table, double predicted, double measured) {
  ValidatedRow row;
  row.measured = Gpt();
  row.measured.table = table;
  row.measured.value = measured;
  row.prediction.value = predicted;
  return row;
}

}  // namespace stagecraft
