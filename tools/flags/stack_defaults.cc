// PlanFlags::WithStackDefaults(): what a training stack does where flags are not given.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/flags/plan_flags.h"

namespace stagecraft {
namespace {

// What no flag replaces: how much memory the software takes.
constexpr const char* kMemoryKeys[] = {"megatron_layers",   "cross_entropy", "weight_update",
                                       "keeps_gradients",   "wraps_layers",  "casts_weights",
                                       "has_global_groups", "keeps_outputs", "keeps_score_buffer"};

const StackDefaults& FindStack(const std::string& name, const std::string& month) {
  if (!month.empty() && !IsMonth(month)) {
    throw InputError("--software-date: got \"" + month + "\", want a month, such as 2023-05");
  }
  const StackTable& table = StackTable::Embedded();
  const StackDefaults* defaults = table.Find(name, month);
  if (defaults != nullptr) return *defaults;
  throw InputError(fmt::format("--stack: got \"{}\"; {}", name, NearestNames(name, table.Names())));
}

// Whether a network has a decoder's configuration that can be changed. Classic networks, graphs and
// files of operators have none.
bool IsDecoder(const std::string& model) {
  try {
    return std::holds_alternative<DecoderConfig>(LoadNetworkConfig(model));
  } catch (const InputError&) {
    return false;  // if it is no network at all, LoadWorkload() says why
  }
}

}  // namespace

template <typename Take>
void PlanFlags::TakeStepDefaults(const StackDefaults& stack, const Take& take) {
  PlanDegrees& degrees = degrees_;
  take("optimizer", "--optimizer", optimizer_, stack.optimizer);
  if (precision_ == "fp16" && stack.Find("fp16_gradient_bytes") != nullptr) {
    take("fp16_gradient_bytes", "--gradient-bytes", degrees.gradient_bytes,
         stack.fp16_gradient_bytes);
  } else if (precision_ != "fp32" && precision_ != "tf32") {
    take("gradient_bytes", "--gradient-bytes", degrees.gradient_bytes, stack.gradient_bytes);
  }
  take("bucket_bytes", "--bucket-bytes", degrees.bucket_bytes, stack.bucket_bytes);
  take("overlap_grad_reduce", "--overlap-grad-reduce", degrees.overlap_grad_reduce,
       stack.overlap_grad_reduce);
  take("overlap_param_gather", "--overlap-param-gather", degrees.overlap_param_gather,
       stack.overlap_param_gather);
  Framework& framework = degrees.framework;
  take("elementwise_traffic", "--compiled", framework.elementwise_traffic,
       stack.framework.elementwise_traffic);
  take("composes_operators", "--compiled", framework.composes_operators,
       stack.framework.composes_operators);
  take("backward_prefetch", "--backward-prefetch", framework.backward_prefetch,
       stack.framework.backward_prefetch);
  take("parameter_gather", "--param-gather", framework.parameter_gather,
       stack.framework.parameter_gather);
  take("parameter_exchange", "--param-exchange", framework.parameter_exchange,
       stack.framework.parameter_exchange);
  take("shard_copies", "", framework.shard_copies, stack.framework.shard_copies);
  // The keys of these two also say how much memory the software takes.
  framework.updates_by_operations = stack.framework.updates_by_operations;
  framework.autocasts = stack.framework.autocasts;
  take("adds_gradients_apart", "", framework.adds_gradients_apart,
       stack.framework.adds_gradients_apart);
  take("scatters_messages", "--scatter-messages", framework.scatters_messages,
       stack.framework.scatters_messages);
  take("exposes_tensor_gradients", "", framework.exposes_tensor_gradients,
       stack.framework.exposes_tensor_gradients);
}

void PlanFlags::TakePipelineDefaults(const StackDefaults& stack, std::vector<StackValue>& used) {
  const auto use = [&](const char* key, const std::string& value) {
    used.push_back(*stack.Find(key));
    used.back().value = value;
  };
  // Interleaved means one transformer block per chunk if the number of stages divides that of the
  // blocks, else 1F1B (data/published/README.md).
  const bool has_schedule = IsGiven("--schedule") || IsGiven("--order-file");
  if (!has_schedule && !IsGiven("--vpp") && !IsGiven("--stage-layers")) {
    std::string schedule = stack.schedule;
    if (schedule == "interleaved") {
      const int blocks = LoadWorkload(model_, AttentionBackend::kFlash).op_sequence_count();
      const bool divides = blocks % degrees_.pipeline == 0 && blocks > degrees_.pipeline;
      if (divides) degrees_.chunks = blocks / degrees_.pipeline;
      if (!divides) schedule = "1f1b";
    }
    schedule_.UseSchedule(schedule);
    use("order", schedule);
  }
  if (!IsGiven("--overlap-p2p") && stack.Find("overlap_p2p") != nullptr) {
    const bool can_overlap = stack.schedule != "interleaved" || degrees_.chunks > 1;
    degrees_.overlap_p2p = stack.overlap_p2p && can_overlap;
    use("overlap_p2p", degrees_.overlap_p2p ? "true" : "false");
  }
  const bool is_placed = IsGiven("--embedding-placement") || IsGiven("--stage-layers");
  if (!is_placed && stack.Find("embedding_placement") != nullptr) {
    embedding_placement_ = stack.embedding_placement;
    use("embedding_placement", stack.embedding_placement);
  }
}

bool PlanFlags::IsVocabularyPadded(int multiple) const {
  const std::optional<FilePart<PlanProto>> file = PlanFromFile();
  if (!file) return false;
  const PlanProto& plan = file->proto;
  int ranks = plan.has_degrees() ? plan.degrees().tp() : 1;
  if (plan.stages_size() > 0) ranks = plan.stages(0).tensor_parallel();
  const int64_t vocabulary = LoadDecoderConfig(model_).vocab;
  return PaddedVocabulary(vocabulary, std::clamp(ranks, 1, 1 << 20), multiple) == vocabulary;
}

PlanFlags PlanFlags::WithStackDefaults(StackUse use, std::vector<StackValue>& used) const {
  const StackDefaults& stack = FindStack(stack_, software_date_);
  PlanFlags flags = *this;
  flags.resolved_stack_ = stack_ + " " + software_date_;
  flags.stack_.clear();
  flags.software_date_.clear();
  PlanDegrees& degrees = flags.degrees_;
  const auto take = [&](const char* key, const char* flag, auto& to, const auto& value) {
    const StackValue* const found = stack.Find(key);
    if (found == nullptr || IsGiven(flag)) return false;
    to = value;
    used.push_back(*found);
    return true;
  };
  const bool makes_plan = use == StackUse::kPlan;
  if (makes_plan) take("recompute", "--recompute", flags.recompute_, stack.recompute);
  take("attention", "--attention", flags.attention_, stack.attention);
  if (makes_plan) take("zero", "--zero", degrees.zero, stack.zero);
  if (use != StackUse::kPlanFile) flags.TakeStepDefaults(stack, take);
  const int multiple = IsDecoder(model_) ? stack.vocabulary_multiple : 0;
  if (makes_plan && multiple > 0) {
    take("vocabulary_multiple", "--vocabulary-multiple", flags.vocabulary_multiple_, multiple);
  } else if (multiple > 0 && !(use == StackUse::kPlanFile && IsVocabularyPadded(multiple))) {
    flags.stack_note_ = fmt::format(
        "the vocabulary is not padded; training stack {} pads it to a multiple of {} x the "
        "tensor-parallel degree",
        stack_, multiple);
  }
  if (makes_plan && degrees.tensor > 1) {
    take("sequence_parallel", "--sequence-parallel", degrees.sequence_parallel,
         stack.sequence_parallel ? -1 : 0);
  }
  const auto divides = [&](int degree) {
    return use == StackUse::kSearch || (makes_plan && degree > 1);
  };
  if (divides(degrees.tensor)) {
    take("overlap_tensor", "--overlap-tp", degrees.overlap_tensor, stack.overlap_tensor);
  }
  if (divides(degrees.context)) {
    take("context_exchange", "--cp-exchange", flags.context_exchange_, stack.context_exchange);
  }
  if (makes_plan && degrees.pipeline > 1) flags.TakePipelineDefaults(stack, used);
  if (use == StackUse::kSearch) {
    take("overlap_p2p", "--overlap-p2p", degrees.overlap_p2p, stack.overlap_p2p);
  }
  flags.memory_ = stack.memory;
  for (const char* key : kMemoryKeys) {
    if (const StackValue* const found = stack.Find(key)) used.push_back(*found);
  }
  return flags;
}

}  // namespace stagecraft
