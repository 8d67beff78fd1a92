// CompleteRow() fills the gaps of a row with facts, and with defaults from the table of stacks.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "costmodel/check.h"
#include "sim/plan/layer_split.h"
#include "sim/plan/plan.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/decoder.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/completed_row.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/row_plan.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostDegree = 1'000'000;
constexpr double kGibOverGb = 1.073741824;
constexpr int64_t kMostRows = 1'000'000'000;

class Completion {
 public:
  Completion(CompletedRow& completed, const StackTable& table)
      : row_(completed.row),
        facts_(completed.facts),
        completed_(completed),
        stack_(StackOf(completed.row, table)),
        table_(table),
        family_(*FamilyOfKind(completed.row.model_kind)) {}

  void Run() {
    FillFramework();
    FillDegrees();
    FillNetwork();
    FillOrder();
    FillPlacement();
    FillPlan();
    FillOverlap();
    FillNumbers();
    FillSharding();
  }

 private:
  void Default(std::string& word, const std::string& value, const char* name) {
    if (!word.empty()) return;
    word = value;
    Note(fmt::format("{} {}", name, value));
  }
  void Note(std::string what) { completed_.defaults_used.push_back(std::move(what)); }

  // A framework that is a stack of its own says more than the column `stack`.
  static const StackDefaults& StackOf(const MeasuredRow& row, const StackTable& table) {
    if (!row.software_date.empty() && !IsMonth(row.software_date)) {
      throw InputError("software_date \"" + row.software_date + "\" is not a month, as 2024-07");
    }
    const StackDefaults* stack = table.Find(row.framework, row.software_date);
    if (stack == nullptr) stack = table.Find(row.stack, row.software_date);
    if (stack == nullptr) throw InputError("stack \"" + row.stack + "\" is not known");
    return *stack;
  }

  void FillFramework() {
    completed_.megatron_layers = stack_.megatron_layers;
    completed_.framework = stack_.framework;
    completed_.memory = stack_.memory;
    // torch.compile fuses what lies between GEMMs.
    if (!row_.compiled.empty() && IsYes("compiled", row_.compiled)) {
      completed_.framework.elementwise_traffic = 1;
      completed_.framework.composes_operators = false;
      completed_.memory.compiles = true;
    }
  }

  void FillDegrees() {
    for (int64_t* degree : {&row_.tp, &row_.pp, &row_.cp, &row_.ep}) {
      *degree = std::max<int64_t>(*degree, 1);
      if (*degree > kMostDegree) throw InputError("a degree is more than a million");
    }
    if (row_.ep > 1 && family_ != NetworkFamily::kMixture) {
      throw InputError("rows of expert parallelism do not describe the experts");
    }
    if (row_.n_gpus > kMostDegree || row_.dp > kMostDegree || row_.interleave > kMostDegree) {
      throw InputError("a degree is more than a million");
    }
    if (row_.n_gpus == 0) {
      const double product = static_cast<double>(row_.tp) * static_cast<double>(row_.pp) *
                             static_cast<double>(row_.cp) * static_cast<double>(row_.dp);
      if (product > kMostDegree) throw InputError("more than a million GPUs");
      row_.n_gpus = row_.tp * row_.pp * row_.cp * std::max<int64_t>(row_.dp, 1);
    }
  }

  void FillNetwork() {
    if (family_ == NetworkFamily::kEncoder) FillBert();
    if (family_ == NetworkFamily::kMixture) {
      FillMixture(facts_, row_);
      Note("network " + MixtureName(row_, facts_));
    }
    if (family_ == NetworkFamily::kClassic) {
      FillClassic();
    } else {
      FillVocabulary();
    }
    FillGatedFfn();
    // Fused attention kernels exist only for 8- and 16-bit operands.
    const bool is_32_bit = row_.dtype == "fp32" || row_.dtype == "tf32";
    if (row_.attention_backend == "local") row_.attention_backend = "unfused";
    if (row_.attention_backend.empty() && facts_.local_layers.value_or(false)) {
      row_.attention_backend = "unfused";
      Note("attention of local layers unfused");
    }
    // The version says more than the backend, which is "flash" or "unfused".
    if (!row_.attention_version.empty()) {
      const bool is_unfused = row_.attention_version == "unfused";
      const std::string backend = is_unfused ? "unfused" : "flash";
      if (!row_.attention_backend.empty() && row_.attention_backend != backend) {
        throw InputError(fmt::format("attention_backend {} contradicts attention_version {}",
                                     row_.attention_backend, row_.attention_version));
      }
      row_.attention_backend = row_.attention_version;
    }
    const std::string usual = facts_.attention.value_or(stack_.attention);
    Default(row_.attention_backend, is_32_bit ? "unfused" : usual, "attention");
  }

  // As Megatron-LM's arguments.py does for --swiglu without --ffn-hidden-size.
  void FillGatedFfn() {
    if (!facts_.swiglu_ffn.value_or(false)) return;
    constexpr int64_t kMultiple = 64;
    row_.ffn = 4 * row_.hidden * 2 / 3 / kMultiple * kMultiple;
    Note(fmt::format("ffn {}", row_.ffn));
  }

  void Default(int64_t& number, int64_t value, const char* name) {
    if (number != 0 || value == 0) return;
    number = value;
    Note(fmt::format("{} {}", name, value));
  }

  void FillBert() {
    Default(row_.layers, facts_.layers.value_or(0), "layers");
    Default(row_.hidden, facts_.hidden.value_or(0), "hidden");
    Default(row_.heads, facts_.heads.value_or(0), "heads");
    if (row_.forward_only.empty()) row_.forward_only = "no";
    if (RowHead(completed_) == EncoderHead::kSpan) {
      Note("head with two numbers per token");
      Default(row_.seq, table_.span_tokens(), "seq");
    }
    Default(row_.vocab, table_.bert_vocabulary(), "vocab");
  }

  // Each image or utterance is one position. A sample of Transformer-XL is one segment, each token
  // of which counts once; for translators, tokens of source and target both count.
  void FillClassic() {
    const std::string name = ClassicName(row_.model_kind, facts_);
    Note("network " + name);
    if (IsOneToken(row_.model_kind)) {
      row_.seq = 1;
      completed_.optimizer = Optimizer::kSgd;
      Note("optimizer sgd");
    } else if (row_.model_kind == "transformer-xl") {
      Default(row_.seq, BuildClassic(name, AttentionBackend::kUnfused)->max_sequence, "seq");
    } else {
      Default(row_.seq, table_.sentence_tokens(), "seq");
      completed_.tokens_per_position = 2;
    }
  }

  void FillVocabulary() {
    const int64_t usual = facts_.vocabulary.value_or(table_.gpt_vocabulary());
    if (row_.model_kind == "gpt") Default(row_.vocab, usual, "vocab");
    if (row_.vocab == 0) throw InputError("vocabulary is not stated");
    if (row_.vocab > kMostRows) throw InputError("vocabulary of more than a billion");
    if (stack_.vocabulary_multiple > 0) {
      const int64_t padded =
          PaddedVocabulary(row_.vocab, static_cast<int>(row_.tp), stack_.vocabulary_multiple);
      if (padded != row_.vocab) Note(fmt::format("vocab padded to {}", padded));
      row_.vocab = padded;
    }
  }

  // An interleaved row that does not state its chunks has one layer in each (a default of the
  // published tables), and runs 1F1B if the layers do not divide that way.
  void FillOrder() {
    if (row_.pp == 1 || row_.schedule == "none") row_.schedule = row_.pp == 1 ? "1f1b" : "";
    Default(row_.schedule, stack_.schedule, "order");
    completed_.post_validation = facts_.post_validation.value_or(false);
    if (completed_.post_validation) Note("optimizer post-validation");
    if (row_.schedule != "interleaved") {
      row_.interleave = 1;
      return;
    }
    if (row_.interleave == 0 && row_.layers % row_.pp != 0) {
      row_.schedule = "1f1b";
      row_.interleave = 1;
      Note("order 1f1b");
    } else if (row_.interleave == 0) {
      row_.interleave = row_.layers / row_.pp;
      Note(fmt::format("interleave {}", row_.interleave));
    } else if (row_.interleave == 1) {
      row_.schedule = "1f1b";
    }
  }

  void FillPlacement() {
    if (row_.vocab_placement != "redistributed" || !row_.stage_layers.empty() || row_.pp == 1) {
      return;
    }
    if (family_ != NetworkFamily::kDecoder || row_.interleave > 1 || row_.layers < row_.pp ||
        row_.layers > kMostDegree) {
      throw InputError("layers per stage of the redistributed placement are not stated");
    }
    const Workload workload =
        BuildDecoder(RowDecoder(completed_), AttentionBackend::kFlash, row_.model);
    for (const int blocks : BalancedBlocks(workload, row_.seq, static_cast<int>(row_.pp))) {
      row_.stage_layers += (row_.stage_layers.empty() ? "" : ",") + std::to_string(blocks);
    }
    Note("stage_layers " + row_.stage_layers);
  }

  void FillPlan() {
    const int64_t data = std::max<int64_t>(row_.n_gpus / (row_.tp * row_.pp * row_.cp), 1);
    if (row_.micro_batch == 0) {
      row_.micro_batch = stack_.micro_batch_is_all ? row_.global_batch / data : stack_.micro_batch;
      if (row_.micro_batch == 0) throw InputError("micro-batch is not stated");
      Note(fmt::format("micro_batch {}", row_.micro_batch));
    }
    const int64_t kMost = std::numeric_limits<int32_t>::max();
    if (row_.global_batch == 0 && row_.micro_batch <= kMost) {
      Default(row_.global_batch, row_.micro_batch * data, "global_batch");
    }
    completed_.bucket_bytes = stack_.bucket_bytes;
    const bool is_decoder =
        family_ == NetworkFamily::kDecoder || family_ == NetworkFamily::kMixture;
    Default(row_.recompute_kind, is_decoder ? stack_.recompute : stack_.recompute_others,
            "recompute");
    if (row_.tp == 1) row_.sequence_parallel = "no";
    Default(row_.sequence_parallel, stack_.sequence_parallel ? "yes" : "no", "sequence_parallel");
    if (row_.forward_only.empty()) row_.forward_only = "no";
    if (facts_.prints_gib.value_or(false)) {
      completed_.memory_unit = kGibOverGb;
      Note("memory in GiB");
    }
    completed_.with_optimizer = !facts_.passes_only.value_or(false);
    if (!completed_.with_optimizer) Note("no optimizer");
    completed_.counts_every_rank = data > 1 && facts_.counts_every_rank.value_or(false);
    if (completed_.counts_every_rank) Note("steps counted on every rank");
  }

  // As the flags of a stack do: where interleaving is usual, only its sends run beside compute.
  void FillOverlap() {
    if (row_.pp > 1 && stack_.Find("overlap_p2p") != nullptr) {
      const bool can_overlap = stack_.schedule != "interleaved" || row_.interleave > 1;
      completed_.overlap_p2p = stack_.overlap_p2p && can_overlap;
      Note(completed_.overlap_p2p ? "overlap_p2p yes" : "overlap_p2p no");
    }
    if (row_.tp == 1) {
      if (row_.overlap_tp == "yes") throw InputError("overlap_tp yes contradicts tp 1");
    } else if (row_.overlap_tp.empty()) {
      completed_.overlap_tensor = stack_.overlap_tensor && row_.sequence_parallel == "yes";
    } else {
      completed_.overlap_tensor = IsYes("overlap_tp", row_.overlap_tp);
    }
    if (row_.cp > 1 && stack_.Find("context_exchange") != nullptr) {
      for (const ContextExchange exchange :
           {ContextExchange::kRing, ContextExchange::kGather, ContextExchange::kUlysses}) {
        if (stack_.context_exchange == Name(exchange)) completed_.context_exchange = exchange;
      }
      Note("context_exchange " + stack_.context_exchange);
    }
  }

  static bool IsYes(const char* column, const std::string& word) {
    if (word == "yes" || word == "no") return word == "yes";
    throw InputError(fmt::format("{} \"{}\" is neither yes nor no", column, word));
  }

  // The number formats of GEMMs and of gradients.
  void FillNumbers() {
    const bool is_32_bit = row_.dtype == "fp32" || row_.dtype == "tf32";
    if (!row_.gradient_bytes.empty()) {
      if (row_.gradient_bytes != "2" && row_.gradient_bytes != "4") {
        throw InputError("gradients of " + row_.gradient_bytes + " bytes are not simulated");
      }
      completed_.gradient_bytes = row_.gradient_bytes == "2" ? 2 : 4;
      if (is_32_bit && completed_.gradient_bytes == 2) {
        throw InputError("gradient_bytes 2 contradicts dtype " + row_.dtype);
      }
    } else if (row_.precision.find("fp32_allreduce=true") != std::string::npos) {
      completed_.gradient_bytes = 4;  // an option of DeepSpeed
    } else if (facts_.gradient_bytes || !is_32_bit) {
      const bool is_fp16 = row_.dtype == "fp16" && stack_.Find("fp16_gradient_bytes") != nullptr;
      completed_.gradient_bytes = facts_.gradient_bytes.value_or(
          is_fp16 ? stack_.fp16_gradient_bytes : stack_.gradient_bytes);
      if (completed_.gradient_bytes > 0) {
        Note(fmt::format("gradient_bytes {}", completed_.gradient_bytes));
      }
    }
    if (row_.dtype == "mxfp8") Default(row_.fp8_recipe, "mx", "fp8_recipe");
    if (row_.dtype == "fp8") Default(row_.fp8_recipe, Name(Fp8Recipe::kDelayed), "fp8_recipe");
    const bool is_mx = row_.fp8_recipe == "mx";
    if ((row_.dtype == "mxfp8" && !is_mx) || (row_.dtype != "mxfp8" && row_.dtype != "fp8" &&
                                              row_.dtype != "nvfp4" && !row_.fp8_recipe.empty())) {
      throw InputError(
          fmt::format("fp8_recipe {} contradicts dtype {}", row_.fp8_recipe, row_.dtype));
    }
  }

  // With one data-parallel rank nothing can be sharded, so every kind of sharding is none.
  void FillSharding() {
    const bool is_alone = row_.n_gpus == row_.tp * row_.pp;
    if (is_alone) {
      row_.zero = "0";
      row_.overlap_grad_reduce = "no";
      return;
    }
    Default(row_.zero, std::to_string(stack_.zero), "zero");
    if (row_.zero != "0" && row_.zero != "1" && row_.zero != "2" && row_.zero != "3") {
      throw InputError("zero " + row_.zero + " is not a kind of sharding");
    }
    Default(row_.overlap_grad_reduce, stack_.overlap_grad_reduce ? "yes" : "no",
            "overlap_grad_reduce");
    completed_.overlap_param_gather = stack_.overlap_param_gather && row_.zero == "1";
    if (completed_.overlap_param_gather) Note("overlap_param_gather yes");
  }

  MeasuredRow& row_;
  const RowFacts& facts_;
  CompletedRow& completed_;
  const StackDefaults& stack_;
  const StackTable& table_;
  const NetworkFamily family_;
};

}  // namespace

CompletedRow CompleteRow(const MeasuredRow& row, const RowFacts& facts, const StackTable& table,
                         const StepConstants& constants) {
  if (!FamilyOfKind(row.model_kind).has_value()) {
    throw InputError(row.model_kind.empty() ? "model kind is not stated"
                                            : "model kind " + row.model_kind + " is not simulated");
  }
  CompletedRow completed;
  completed.row = row;
  completed.facts = facts;
  completed.constants = constants;
  Completion(completed, table).Run();
  completed.framework = WithConstants(completed.framework, constants);
  return completed;
}

}  // namespace stagecraft
