#include "tools/validation/row_plan.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "costmodel/check.h"
#include "tools/validation/row_cluster.h"

namespace stagecraft {
namespace {

// "3,4,4,3" or "3|4|4|3".
std::vector<int> StageBlocks(const std::string& text) {
  std::vector<int> blocks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int count = 0;
    const auto [next, error] = std::from_chars(at, end, count);
    const bool is_last = next == end;
    if (error != std::errc() || count < 0 || (!is_last && *next != ',' && *next != '|')) {
      throw InputError("layers per stage \"" + text + "\" are not numbers");
    }
    blocks.push_back(count);
    at = is_last ? end : next + 1;
  }
  return blocks;
}

int WholeNumber(const std::string& column, const std::string& text) {
  int value = 0;
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || next != text.data() + text.size()) {
    throw InputError(column + " \"" + text + "\" is not a whole number");
  }
  return value;
}

PlanDegrees RowDegrees(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  PlanDegrees degrees;
  degrees.tensor = static_cast<int>(row.tp);
  degrees.pipeline = static_cast<int>(row.pp);
  degrees.data = static_cast<int>(row.dp);
  degrees.context = static_cast<int>(row.cp);
  degrees.chunks = static_cast<int>(row.interleave);
  degrees.micro_batch = row.micro_batch;
  degrees.global_batch = row.global_batch;
  degrees.sequence = row.seq;
  degrees.order = RowOrder(row);
  degrees.recompute = RowRecompute(row);
  degrees.precision = RowPrecision(row);
  degrees.zero = WholeNumber("zero", row.zero);
  if (!row.zero_group.empty()) degrees.zero_group = WholeNumber("zero_group", row.zero_group);
  degrees.sequence_parallel = row.sequence_parallel == "yes" ? 1 : 0;
  degrees.overlap_grad_reduce = row.overlap_grad_reduce == "yes";
  degrees.overlap_param_gather = completed.overlap_param_gather;
  degrees.forward_only = row.forward_only == "yes";
  if (row.pp > 1) degrees.stage_blocks = StageBlocks(row.stage_layers);
  return degrees;
}

}  // namespace

DType RowPrecision(const MeasuredRow& row) {
  for (const DType type : {DType::kFp32, DType::kTf32, DType::kFp16, DType::kBf16, DType::kFp8}) {
    if (row.dtype == Name(type)) return type;
  }
  throw InputError(row.dtype.empty() ? "number format is not stated"
                                     : "number format " + row.dtype + " is not simulated");
}

Recompute RowRecompute(const MeasuredRow& row) {
  for (const Recompute kind : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    if (row.recompute_kind == Name(kind)) return kind;
  }
  throw InputError("recomputation " + row.recompute_kind + " is not simulated");
}

PipelineOrder RowOrder(const MeasuredRow& row) {
  for (const PipelineOrder order : {PipelineOrder::kGpipe, PipelineOrder::kOneForwardOneBackward,
                                    PipelineOrder::kInterleaved}) {
    if (row.order == Name(order)) return order;
  }
  throw InputError("pipeline order " + row.order + " is not simulated");
}

AttentionBackend RowAttention(const MeasuredRow& row) {
  if (row.attention_backend == "flash") return AttentionBackend::kFlash;
  if (row.attention_backend == "unfused") return AttentionBackend::kUnfused;
  throw InputError("attention " + row.attention_backend + " is not simulated");
}

DecoderConfig RowDecoder(const MeasuredRow& row) {
  DecoderConfig config = DecoderOfFamily(row.model_kind);
  config.layers = row.layers;
  config.hidden = row.hidden;
  config.heads = row.heads;
  config.kv_heads = row.kv_heads;
  config.ffn = row.ffn;
  config.vocab = row.vocab;
  config.max_sequence = row.seq;
  if (!row.tied_embeddings.empty()) config.tied_embeddings = row.tied_embeddings == "yes";
  if (row.activation == "swiglu") {
    config.gated_mlp = true;
    config.activation = Activation::kSilu;
  }
  return Completed(config);
}

RowPlan BuildRowPlan(CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  const PlanDegrees degrees = RowDegrees(completed);
  const DecoderConfig config = RowDecoder(row);
  Workload workload = BuildDecoder(config, RowAttention(row), row.model_kind);
  Cluster cluster = BuildRowCluster(row, completed.defaults_used);
  if (!row.stage_gpus.empty() && !cluster.homogeneous()) {
    throw InputError("boards placed by stage are not simulated");
  }
  if (cluster.device_count() != row.n_gpus) {
    throw InputError(fmt::format("the row's nodes hold {} GPUs, but it counts {}",
                                 cluster.device_count(), row.n_gpus));
  }
  Plan plan = MakePlan(degrees, workload, cluster);
  return {config, std::move(workload), std::move(cluster), std::move(plan)};
}

}  // namespace stagecraft
