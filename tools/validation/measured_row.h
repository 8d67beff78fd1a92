// MeasuredRow: one published measurement in normalised columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/validation/csv_table.h"

namespace stagecraft {

// The values of the columns that the README of the published tables describes. What a row does not
// state stays empty or zero.
struct MeasuredRow {
  std::string id;      // the file's `id`, or "file-001" by data row
  std::string source;  // the file's `source`, or the file's name
  std::string table;   // the file's name without ".csv"
  std::string place;   // how errors about it begin: "rows.csv: row 12 (line 13)"

  std::string stack, framework, software_date, compiled;
  std::string model, model_kind, activation, tied_embeddings;
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, ffn = 0, vocab = 0;
  int64_t encoder_layers = 0, decoder_layers = 0;
  int64_t encoder_seq = 0, decoder_seq = 0;  // tokens

  int64_t seq = 0;           // tokens
  int64_t global_batch = 0;  // samples
  int64_t micro_batch = 0;   // samples per rank and pass
  int64_t tp = 0, pp = 0, cp = 0, ep = 0, dp = 0;
  int64_t interleave = 0;  // model chunks per stage
  std::string schedule, stage_layers, stage_gpus, vocab_placement;
  std::string recompute_kind, recompute_detail, sequence_parallel, zero, zero_group;
  std::string dtype, fp8_recipe, gradient_bytes;
  std::string precision;  // in the source's words
  std::string overlap_grad_reduce, overlap_tp, attention_backend, attention_version, forward_only;

  std::string gpu_id, node_id, intra_kind, inter_gbit_per_node, transport;
  int64_t n_gpus = 0, n_nodes = 0, gpus_per_node = 0;

  std::string metric, metric_kind, flop_convention, rank, stage_times_ms;
  // In the unit of Unit(metric_kind); of profiled passes in seconds.
  double value = 0;
  std::string group;
  bool is_primary = true;
  bool is_scored = false;
  std::string why_not;  // why it is not scored
  std::string notes;    // for people; in functional tests also the flags of the run

  // For rows of one kernel or collective.
  std::string op, collective, algorithm;
  int64_t m = 0, n = 0, k = 0, op_batch = 0;
  int64_t bytes = 0;  // full buffer of one rank
};

// Returns the unit of a metric kind's values: "s", "1/s", "TFLOP/s", "bytes" and so on; empty for
// an unknown kind.
const char* Unit(const std::string& metric_kind);

// Returns whether less is better, as for times, memory and idle shares.
bool LessIsBetter(const std::string& metric_kind);

// Returns whether a model kind is a mixture of experts, whose rows are predicted but never scored.
bool IsMixture(const std::string& model_kind);

// Returns all rows of a table, scored or not. `stem` is the file's name, for rows without an id or
// a source. Throws InputError for a missing column and for a field that does not contain what its
// column should.
std::vector<MeasuredRow> ReadMeasuredRows(const CsvTable& table, const std::string& stem);

}  // namespace stagecraft
