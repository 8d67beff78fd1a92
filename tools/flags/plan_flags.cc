#include "tools/flags/plan_flags.h"

#include <fmt/format.h>

namespace stagecraft {

void PlanFlags::RegisterJob(CLI::App& app) {
  app.add_option("--model", model_,
                 "preset, config.json, its directory, megatron:LxHxA, .onnx or graph.txt")
      ->required();
  app.add_option("--cluster", cluster_, "GPU:NxG, NODE:N, a sum of these, or a file")
      ->required(!usual_cluster_);
  app.add_option(
      "--host-dispatch", host_dispatch_us_,
      "microseconds in which hosts launch a kernel; 0: they launch recorded graphs [as the "
      "cluster has it, or else 75]");
  app.add_option("--clock", clock_,
                 "clock of the devices in long steps over their boost clock, 0.1 to 1 [as the "
                 "cluster has it]");
}

void PlanFlags::RegisterAttention(CLI::App& app) {
  attention_option_ = app.add_option("--attention", attention_, "flash or unfused [flash]");
}

void PlanFlags::RegisterGiven(CLI::App& app) {
  RegisterJob(app);
  RegisterBatch(app);
  RegisterStep(app);
  RegisterSwitches(app);
  sync_.Register(app);
  RegisterAttention(app);
}

void PlanFlags::Register(CLI::App& app) {
  RegisterJob(app);
  app.add_option("--plan", plan_file_, "plan file (.yaml, .json, .textproto) in place of degrees");
  RegisterDegrees(app);
  RegisterBatch(app);
  const std::vector<CLI::Option*> order = order_.Register(app);
  degree_options_.insert(degree_options_.end(), order.begin(), order.end());
  RegisterSharing(app);
  RegisterStep(app);
  RegisterSwitches(app);
  const std::vector<CLI::Option*> sync = sync_.Register(app);
  degree_options_.insert(degree_options_.end(), sync.begin(), sync.end());
  RegisterAttention(app);
  Add(app, "--stack", stack_,
      "take the defaults of a training stack: " +
          fmt::format("{}", fmt::join(StackTable::Embedded().Names(), ", ")));
}

void PlanFlags::RegisterDegrees(CLI::App& app) {
  Add(app, "--tp", degrees_.tensor, "tensor-parallel degree [1]");
  Add(app, "--pp", degrees_.pipeline, "pipeline stages [1]");
  Add(app, "--dp", degrees_.data, "data-parallel replicas [derived]");
  Add(app, "--cp", degrees_.context, "context-parallel degree [1]");
  Add(app, "--ep", degrees_.expert, "expert-parallel degree [1]");
  Add(app, "--vpp", degrees_.chunks, "model chunks per stage, interleaved [1]");
  Add(app, "--micro-batch", degrees_.micro_batch, "samples per micro-batch [1]");
  Add(app, "--replica-micro-batches", degrees_.replica_micro_batches,
      "micro-batches of each replica, e.g. 5,3 [equally many]")
      ->delimiter(',');
  Add(app, "--stage-replicas", degrees_.stage_replicas,
      "replicas of each stage in place of --dp, e.g. 15,1 [equally many]")
      ->delimiter(',');
  Add(app, "--rank-order", degrees_.rank_order, "fastest first [tp-cp-ep-dp-pp]");
  Add(app, "--stage-layers", stage_layers_, "blocks per stage, e.g. 19,21,21,19")->delimiter(',');
}

void PlanFlags::RegisterBatch(CLI::App& app) {
  Add(app, "--global-batch", degrees_.global_batch, "samples per step [1]");
  Add(app, "--seq", degrees_.sequence, "tokens per sample [the model's limit]");
}

void PlanFlags::RegisterSharing(CLI::App& app) {
  Add(app, "--recompute", recompute_, "none, selective or full [selective]");
  Add(app, "--recompute-layers", recompute_layers_,
      "layers that recompute whole, embedding 0: 1-8,12; others as --recompute, or none with full");
  Add(app, "--recompute-num-layers", degrees_.recompute_choice.counts,
      "blocks that recompute whole, of all stages or each, e.g. 4,4,2,0 [all with full]")
      ->delimiter(',');
  Add(app, "--recompute-method", recompute_method_,
      "block: so many first ones of every chunk; uniform: all, in ranges of so many [block]");
  Add(app, "--zero", degrees_.zero,
      "0 to 3: shared by replicas: nothing, states, gradients, parameters [1 where dp > 1; 0 "
      "with --gradient-sync]");
  Add(app, "--zero-group", degrees_.zero_group, "ranks that share, copies beyond [all]");
}

void PlanFlags::RegisterStep(CLI::App& app) {
  Add(app, "--bucket-bytes", degrees_.bucket_bytes,
      "gradients reduced in one go [Megatron-core's]");
  Add(app, "--cp-exchange", context_exchange_, "ring, gather or ulysses [ring]");
  Add(app, "--optimizer", optimizer_, "adam, adam8bit, sgd (with momentum) or sgd-plain [adam]");
  Add(app, "--host-memory-gib", host_memory_gib_, "of a node, for --offload-...");
  Add(app, "--offload-activations", degrees_.offload.activations,
      "share of what forwards save that waits with the host for its backward, 0 to 1 [0]");
  Add(app, "--expert-imbalance", degrees_.expert_imbalance,
      "rows of the fullest rank's experts over the mean [1]");
  Add(app, "--precision", precision_, "bf16, fp16, fp32, tf32 or fp8 [bf16]");
  Add(app, "--fp8-recipe", fp8_recipe_,
      "scales of 8-bit tensors: delayed, current or mx (every 32 numbers) [delayed]");
  Add(app, "--gradient-bytes", degrees_.gradient_bytes,
      "per element, accumulated and reduced: 2 or 4 [4; 2 with fp16]");
  Add(app, "--embedding-placement", embedding_placement_,
      "first-last or redistributed: blocks leave the stage of the head [first-last]");
}

void PlanFlags::RegisterSwitches(CLI::App& app) {
  const auto add = [&](const char* name, bool& value, const char* text) {
    degree_options_.push_back(app.add_flag(name, value, text));
    return degree_options_.back();
  };
  sequence_parallel_option_ =
      add("--sequence-parallel,!--no-sequence-parallel", sequence_parallel_,
          "norms and residuals split over the tensor group [on where tp > 1]; a search tries both");
  add("--overlap-grad-reduce,!--no-overlap-grad-reduce", degrees_.overlap_grad_reduce,
      "reduce gradients beside the backward [on]");
  add("--overlap-param-gather,!--no-overlap-param-gather", degrees_.overlap_param_gather,
      "gather parameters beside the forward [off]");
  add("--overlap-p2p,!--no-overlap-p2p", degrees_.overlap_p2p,
      "compute while sending to the next stage [on]");
  add("--post-validation,!--no-post-validation", degrees_.post_validation,
      "stages update without waiting for the norm of all gradients [off]");
  add("--overlap-tp,!--no-overlap-tp", degrees_.overlap_tensor,
      "tensor collectives beside their products [off]");
  add("--reshard,!--no-reshard", degrees_.reshard_after_forward,
      "with zero 3: drop parameters after the forward and gather them again [on]");
  add("--offload-optimizer", degrees_.offload.optimizer,
      "Adam's states with the host, which updates (ZeRO-Offload) [off]");
  add("--forward-only", degrees_.forward_only, "no backward, no update");
}

bool PlanFlags::IsGiven(const std::string& flag) const {
  for (const CLI::Option* option : degree_options_) {
    if (option->check_name(flag)) return option->count() > 0;
  }
  return attention_option_->check_name(flag) && (ChoosesAttention() || keeps_attention_);
}

bool PlanFlags::ChoosesAttention() const { return attention_option_->count() > 0; }

void PlanFlags::UseUnfusedAttention() {
  attention_ = "unfused";
  keeps_attention_ = true;
}

}  // namespace stagecraft
