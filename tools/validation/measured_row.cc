#include "tools/validation/measured_row.h"

#include <fmt/core.h>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

// The fields of one row, by column name; if several names are given, the first one with a value
// counts.
class Fields {
 public:
  Fields(const CsvTable& table, int row, std::string place)
      : table_(table), row_(row), place_(std::move(place)) {}

  std::string Text(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const int column = table_.Column(name);
      if (column >= 0 && !table_.field(row_, column).empty()) return table_.field(row_, column);
    }
    return "";
  }

  int64_t Whole(std::initializer_list<const char*> names) const {
    const std::string text = Text(names);
    if (text.empty()) return 0;
    const std::optional<int64_t> value = ParseNumber<int64_t>(text);
    if (!value || *value < 0) {
      throw InputError(fmt::format("{}: column \"{}\": got \"{}\", want a whole number or nothing",
                                   place_, *names.begin(), text));
    }
    return *value;
  }

  double Positive(std::initializer_list<const char*> names) const {
    const std::string text = Text(names);
    const std::optional<double> value = ParseNumber<double>(text);
    if (!value || !std::isfinite(*value) || *value <= 0) {
      throw InputError(fmt::format("{}: column \"{}\": got \"{}\", want a finite number > 0",
                                   place_, *names.begin(), text));
    }
    return *value;
  }

  bool Flag(const char* name, bool otherwise) const {
    const std::string text = Text({name});
    if (text.empty()) return otherwise;
    if (text != "0" && text != "1") {
      throw InputError(
          fmt::format("{}: column \"{}\": got \"{}\", want 0 or 1", place_, name, text));
    }
    return text == "1";
  }

 private:
  const CsvTable& table_;
  const int row_;
  const std::string place_;
};

void ReadNetwork(const Fields& fields, MeasuredRow& row) {
  row.stack = fields.Text({"stack"});
  row.framework = fields.Text({"framework"});
  row.software_date = fields.Text({"software_date"});
  row.compiled = fields.Text({"compiled"});
  row.model = fields.Text({"model"});
  row.model_kind = fields.Text({"model_kind"});
  row.activation = fields.Text({"activation"});
  row.tied_embeddings = fields.Text({"tied_embeddings"});
  row.layers = fields.Whole({"layers"});
  row.hidden = fields.Whole({"hidden"});
  row.heads = fields.Whole({"heads"});
  row.kv_heads = fields.Whole({"kv_heads"});
  row.ffn = fields.Whole({"ffn"});
  row.vocab = fields.Whole({"vocab"});
  row.encoder_layers = fields.Whole({"encoder_layers"});
  row.decoder_layers = fields.Whole({"decoder_layers"});
  row.encoder_seq = fields.Whole({"encoder_seq"});
  row.decoder_seq = fields.Whole({"decoder_seq"});
}

void ReadPlan(const Fields& fields, MeasuredRow& row) {
  row.seq = fields.Whole({"seq"});
  row.global_batch = fields.Whole({"global_batch", "gbs", "batch"});
  row.micro_batch = fields.Whole({"micro_batch", "mbs", "batch"});
  row.tp = fields.Whole({"tp"});
  row.pp = fields.Whole({"pp"});
  row.cp = fields.Whole({"cp"});
  row.ep = fields.Whole({"ep"});
  row.dp = fields.Whole({"dp"});
  row.interleave = fields.Whole({"interleave"});
  row.schedule = fields.Text({"order"});
  row.stage_layers = fields.Text({"stage_layers_norm", "stage_layers"});
  row.stage_gpus = fields.Text({"stage_gpus"});
  row.vocab_placement = fields.Text({"vocab_placement"});
  row.recompute_kind = fields.Text({"recompute_kind"});
  row.recompute_detail = fields.Text({"recompute_detail"});
  row.sequence_parallel = fields.Text({"sequence_parallel"});
  row.dtype = fields.Text({"dtype"});
  row.precision = fields.Text({"precision"});
  row.fp8_recipe = fields.Text({"fp8_recipe"});
  row.gradient_bytes = fields.Text({"gradient_bytes"});
  row.zero = fields.Text({"zero"});
  row.zero_group = fields.Text({"zero_group"});
  row.overlap_grad_reduce = fields.Text({"overlap_grad_reduce"});
  row.overlap_tp = fields.Text({"overlap_tp"});
  row.attention_backend = fields.Text({"attention_backend"});
  row.attention_version = fields.Text({"attention_version"});
  row.forward_only = fields.Text({"forward_only"});
}

void ReadCluster(const Fields& fields, MeasuredRow& row) {
  row.gpu_id = fields.Text({"gpu_id"});
  row.node_id = fields.Text({"node_id"});
  row.intra_kind = fields.Text({"intra_kind"});
  row.inter_gbit_per_node = fields.Text({"inter_gbit_per_node"});
  row.transport = fields.Text({"transport"});
  row.n_gpus = fields.Whole({"n_gpus"});
  row.n_nodes = fields.Whole({"n_nodes"});
  row.gpus_per_node = fields.Whole({"gpus_per_node"});
}

void ReadMetric(const Fields& fields, MeasuredRow& row) {
  row.metric = fields.Text({"metric"});
  row.metric_kind = fields.Text({"metric_kind"});
  row.flop_convention = fields.Text({"flop_convention"});
  row.rank = fields.Text({"rank"});
  row.stage_times_ms = fields.Text({"stage_times_ms"});
  row.group = fields.Text({"group"});
  row.is_primary = fields.Flag("primary", true);
  row.is_scored = fields.Flag("scored", false);
  row.why_not = fields.Text({"why_not"});
  row.notes = fields.Text({"notes"});
  const bool is_compared = row.is_scored || (IsMixture(row.model_kind) &&
                                             !fields.Text({"value_norm", "step_time_s"}).empty());
  if (is_compared) row.value = fields.Positive({"value_norm", "step_time_s"});
  const bool is_pass = row.metric.starts_with("profiled_T_");
  if (is_pass && fields.Text({"unit"}) == "ms") row.value = 1e-3 * fields.Positive({"value"});
}

void ReadKernel(const Fields& fields, MeasuredRow& row) {
  row.op = fields.Text({"op"});
  row.collective = fields.Text({"collective"});
  row.algorithm = fields.Text({"algorithm"});
  row.m = fields.Whole({"m"});
  row.n = row.op.empty() ? 0 : fields.Whole({"n"});  // without an op, "n" counts timed iterations
  row.k = fields.Whole({"k"});
  row.op_batch = fields.Whole({"op_batch"});
  row.bytes = fields.Whole({"bytes"});
}

struct Kind {
  const char* name;
  const char* unit;
  bool less_is_better;
};
constexpr Kind kKinds[] = {
    {"step_time", "s", true},
    {"layer_time", "s", true},
    {"collective_time", "s", true},
    {"kernel_time", "s", true},
    {"samples_per_s", "1/s", false},
    {"samples_per_s_per_gpu", "1/s", false},
    {"tokens_per_s", "1/s", false},
    {"tokens_per_s_per_gpu", "1/s", false},
    {"tflops_per_gpu_hw", "TFLOP/s", false},
    {"tflops_per_gpu_model", "TFLOP/s", false},
    {"kernel_tflops", "TFLOP/s", false},
    {"mfu", "fraction", false},
    {"hfu", "fraction", false},
    {"bubble_rate", "fraction", true},
    {"peak_memory_allocated", "bytes", true},
    {"peak_memory_reserved", "bytes", true},
    {"collective_busbw", "GB/s", false},
};

const Kind* FindKind(const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

void CheckColumns(const CsvTable& table) {
  for (const char* name : {"gpu_id", "dtype", "metric_kind", "scored"}) {
    if (table.Column(name) < 0) {
      throw InputError(
          fmt::format("{}: header: got no column \"{}\", want it", table.name(), name));
    }
  }
  if (table.Column("value_norm") < 0 && table.Column("step_time_s") < 0) {
    throw InputError(table.name() +
                     ": header: got neither column \"value_norm\" nor \"step_time_s\", want one");
  }
}

}  // namespace

const char* Unit(const std::string& metric_kind) {
  const Kind* kind = FindKind(metric_kind);
  return kind == nullptr ? "" : kind->unit;
}

bool LessIsBetter(const std::string& metric_kind) {
  const Kind* kind = FindKind(metric_kind);
  return kind == nullptr || kind->less_is_better;
}

bool IsMixture(const std::string& model_kind) {
  return model_kind == "moe" || model_kind == "switch";
}

std::vector<MeasuredRow> ReadMeasuredRows(const CsvTable& table, const std::string& stem) {
  CheckColumns(table);
  std::vector<MeasuredRow> rows;
  for (int i = 0; i < table.row_count(); ++i) {
    MeasuredRow row;
    row.place = fmt::format("{}: row {} (line {})", table.name(), i + 1, table.line(i));
    const Fields fields(table, i, row.place);
    row.id = fields.Text({"id"});
    if (row.id.empty()) row.id = fmt::format("{}-{:03}", stem, i + 1);
    row.table = stem;
    row.source = fields.Text({"source"});
    if (row.source.empty()) row.source = stem;
    ReadNetwork(fields, row);
    ReadPlan(fields, row);
    ReadCluster(fields, row);
    ReadMetric(fields, row);
    ReadKernel(fields, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stagecraft
