#include "tools/flags/plan_flags.h"

#include <fmt/format.h>

#include <iterator>

#include "sim/plan/attention_choice.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {

void PlanFlags::RegisterJob(Flags& flags) {
  flags.In(FlagTopic::kNetwork)
      .Add("--model", model_,
           {"<network>",
            "The network to train: a preset (catalogue models lists them), a Hugging Face "
            "config.json or its directory, megatron:LAYERSxHIDDENxHEADS, an .onnx model, or a "
            "graph.txt profile of PipeDream."})
      .Suggest(WorkloadNames)
      .Required(!may_take_from_file_)
      .Common();
  flags.In(FlagTopic::kNetwork)
      .Add("--frozen", frozen_,
           {"<parts>",
            "Layers that are not trained: ranges such as 0-11 (the embedding is layer 0), or names "
            "of parts, such as embedding,encoder.",
            "", "none"});
  flags.In(FlagTopic::kNetwork)
      .Add("--layer-state", layer_state_,
           {"<file>",
            "What the layers are at a moment of a training run: frozen, cached, pruned, on some of "
            "the tokens, with adapters; a .yaml, .json or .textproto file.",
            "", "all are trained, dense, and on all tokens"});
  FlagGroup cluster = flags.In(FlagTopic::kCluster);
  cluster
      .Add("--cluster", cluster_,
           {"<cluster>",
            "GPU:NxG (N nodes with G of these GPUs each, such as h100-sxm:8x8), NODE:N (such as "
            "dgx-h100:8), either with @nic=X for interfaces of X Gbit/s, a sum of these, or a "
            "cluster file.",
            "", usual_cluster_ ? "the CPU cores of this host" : ""})
      .Required(!usual_cluster_ && !may_take_from_file_)
      .Common();
  cluster
      .Add("--transport", transport_,
           {"<name>",
            "What the interfaces between nodes speak: InfiniBand (ib), RoCE, EFA, Slingshot, "
            "Omni-Path (opa), or sockets in a cloud (gvnic) or over Ethernet (tcp).",
            "", "as the cluster says"})
      .Suggest(TransportWords());
  cluster.Add("--scale", scale_,
              {"<name=x,...>",
               "Multiply bandwidths or capacities of the whole cluster: network (between nodes), "
               "links (inside nodes) and memory, such as network=0.5,memory=2.",
               "0.001 to 1000", "1"});
  cluster.Add("--clock", clock_,
              {"<x>", "Clock of the GPUs in long runs, as a share of their boost clock.",
               "0.1 to 1", "as the cluster says"});
  cluster.Add(
      "--host-dispatch", host_dispatch_us_,
      {"<us>", "Microseconds that a host takes to launch a kernel; 0 if it launches CUDA graphs.",
       "0 to 100000", "as the cluster says, or 75"});
}

void PlanFlags::RegisterMechanisms(Flags& flags) {
  Args names;
  for (const Mechanism mechanism : AllMechanisms()) names.emplace_back(Name(mechanism));
  flags.In(FlagTopic::kCostModel)
      .Add("--without", without_,
           {"<name>[,<name>]...",
            "Leave mechanisms out of the prediction; explain says what each contributes."})
      .SplitAtCommas()
      .Suggest(std::move(names));
}

void PlanFlags::RegisterAttention(Flags& flags) {
  attention_option_ =
      flags.In(FlagTopic::kNetwork)
          .Add("--attention", attention_,
               {"<name>",
                "Attention as one fused kernel, or kernel by kernel (unfused). Fused: flash is "
                "what the GPU's generation runs best; flash1, flash2 and flash3 are versions of "
                "FlashAttention; cudnn.",
                "", "flash"})
          .Suggest({std::begin(kAttentionNames), std::end(kAttentionNames)});
}

void PlanFlags::RegisterStack(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kParallelism);
  group
      .Add("--stack", stack_,
           {"<name>",
            "Take the defaults of this training stack for all flags that are not given, and the "
            "memory that its software takes.",
            "", "none"})
      .Suggest(StackTable::Embedded().Names());
  group.Add(
      "--software-date", software_date_,
      {"<month>", "With --stack: what the stack did in this month, such as 2023-05.", "", "now"});
}

void PlanFlags::RegisterGiven(Flags& flags) {
  RegisterJob(flags);
  RegisterStack(flags);
  RegisterBatch(flags);
  RegisterMargin(flags);
  RegisterStep(flags);
  RegisterOffloading(flags);
  RegisterOverlap(flags);
  RegisterFramework(flags);
  sync_.Register(flags);
  RegisterAttention(flags);
}

void PlanFlags::Register(Flags& flags) {
  RegisterJob(flags);
  RegisterBatch(flags);
  RegisterDegrees(flags);
  flags.In(FlagTopic::kParallelism)
      .Add(
          "--plan", plan_file_,
          {"<file>",
           "Read the plan from a .yaml, .json or .textproto file, as search -o writes it, in place "
           "of flags."})
      .Common();
  RegisterStack(flags);
  const std::vector<Flag> schedule = schedule_.Register(flags, degrees_.chunks);
  degree_options_.insert(degree_options_.end(), schedule.begin(), schedule.end());
  RegisterMargin(flags);
  RegisterMemory(flags);
  RegisterRecomputation(flags);
  RegisterStep(flags);
  RegisterPlaces(flags);
  RegisterOffloading(flags);
  RegisterOverlap(flags);
  RegisterFramework(flags);
  const std::vector<Flag> sync = sync_.Register(flags);
  degree_options_.insert(degree_options_.end(), sync.begin(), sync.end());
  RegisterAttention(flags);
  RegisterMechanisms(flags);
}

void PlanFlags::RegisterDegrees(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kParallelism);
  Add(group, "--tp", degrees_.tensor,
      {"<n>", "Tensor-parallel degree: GPUs that share every layer.", "1 or more", "1"})
      .AtLeast(1)
      .Common();
  Add(group, "--pp", degrees_.pipeline, {"<n>", "Pipeline stages.", "1 or more", "1"})
      .AtLeast(1)
      .Common();
  Add(group, "--dp", degrees_.data,
      {"<n>", "Data-parallel replicas.", "1 or more", "as many as the cluster has room for"})
      .AtLeast(1)
      .Common();
  Add(group, "--cp", degrees_.context,
      {"<n>", "Context-parallel degree: GPUs that share the tokens of every sample.", "1 or more",
       "1"})
      .AtLeast(1);
  Add(group, "--ep", degrees_.expert,
      {"<n>", "Expert-parallel degree: data-parallel GPUs that share the experts.", "1 or more",
       "1"})
      .AtLeast(1);
  Add(flags.In(FlagTopic::kNetwork), "--micro-batch", degrees_.micro_batch,
      {"<n>", "Samples per micro-batch, which go through the pipeline at once.", "1 or more", "1"})
      .AtLeast(1)
      .Common();
}

// The flags that say where ranks, layers and micro-batches go.
void PlanFlags::RegisterPlaces(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kParallelism);
  Add(group, "--stage-layers", stage_layers_,
      {"<n,...>", "Transformer blocks of every stage, such as 19,21,21,19.", "", "equally many"})
      .SplitAtCommas();
  Add(group, "--stage-replicas", degrees_.stage_replicas,
      {"<n,...>", "Replicas of every stage, such as 15,1, in place of --dp.", "", "equally many"})
      .SplitAtCommas();
  Add(group, "--replica-micro-batches", degrees_.replica_micro_batches,
      {"<n,...>", "Micro-batches of every replica, such as 5,3.", "", "equally many"})
      .SplitAtCommas();
  Add(group, "--rank-order", degrees_.rank_order,
      {"<order>", "How ranks are placed: names of degrees, the one with the closest ranks first.",
       "", kDefaultRankOrder});
}

void PlanFlags::RegisterBatch(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kNetwork);
  Add(group, "--global-batch", degrees_.global_batch,
      {"<n>", "Samples per training step, of all replicas.", "1 or more",
       "micro-batch x dp x pp; search wants it"})
      .AtLeast(1)
      .Common();
  Add(group, "--seq", degrees_.sequence,
      {"<n>", "Tokens per sample; 8k is 8192.", "1 or more",
       "the network's limit, but at most 8192"})
      .InBinary()
      .AtLeast(1)
      .Common();
}

void PlanFlags::RegisterMargin(Flags& flags) {
  memory_margin_ = fmt::format("{:g}", kUsualMemoryMargin);
  flags.In(FlagTopic::kMemory)
      .Add("--memory-margin", memory_margin_,
           {"<percent>", "Part of every GPU's memory that a plan has to leave free to fit.",
            "0 to 90", memory_margin_});
}

void PlanFlags::RegisterMemory(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kMemory);
  Add(group, "--zero", degrees_.zero,
      {"<n>",
       "What is sharded over replicas (ZeRO): 0 nothing, 1 optimizer states, 2 gradients too, 3 "
       "parameters too.",
       "0 to 3", "1 if dp > 1, but 0 with --gradient-sync"})
      .Between(0, 3)
      .Common();
  Add(group, "--zero-group", degrees_.zero_group,
      {"<n>",
       "Shard within groups of this many ranks; all groups hold the same states (hybrid sharding).",
       "1 or more", "all ranks of a stage"})
      .AtLeast(1);
}

void PlanFlags::RegisterRecomputation(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kMemory);
  Add(group, "--recompute", recompute_,
      {"<name>",
       "Activations that the backward computes again: none, the scores of unfused attention "
       "(selective), blocks but for every second GEMM and fused attention (operators), or whole "
       "blocks (full); least: the first of none, selective and full that fits into memory.",
       "", "selective"})
      .Suggest({"none", "selective", "operators", "full", "least"})
      .Common();
  Add(group, "--recompute-num-layers", degrees_.recompute_choice.counts,
      {"<n,...>",
       "How many blocks of every stage are recomputed whole: one number for all stages or one for "
       "each, such as 4,4,2,0.",
       "", "all with --recompute full"})
      .SplitAtCommas();
  Add(group, "--recompute-method", recompute_method_,
      {"<name>",
       "With --recompute-num-layers: recompute that many blocks at the start of every chunk "
       "(block), or all blocks, in groups of that many (uniform).",
       "", "block"})
      .Suggest({"block", "uniform"});
  Add(group, "--recompute-layers", recompute_layers_,
      {"<ranges>",
       "Layers that are recomputed whole, such as 1-8,12; the embedding is layer 0. Other layers "
       "follow --recompute; if it is full, they keep everything."});
}

void PlanFlags::RegisterStep(Flags& flags) {
  sequence_parallel_option_ =
      Add(flags.In(FlagTopic::kParallelism), "--sequence-parallel,!--no-sequence-parallel",
          sequence_parallel_,
          {"", "Divide norms and residuals by tokens among the tensor-parallel ranks.", "",
           "on if tp > 1; search tries both"});
  FlagGroup memory = flags.In(FlagTopic::kMemory);
  Add(memory, "--optimizer", optimizer_,
      {"<name>", "The optimizer; sgd has momentum, sgd-plain has none.", "", "adam"})
      .Suggest({"adam", "adam8bit", "adam16bit", "sgd", "sgd-plain"});
  Add(memory, "--precision", precision_, {"<name>", "Number format of GEMMs.", "", "bf16"})
      .Suggest({"bf16", "fp16", "fp32", "tf32", "fp8", "nvfp4"});
  Add(memory, "--fp8-recipe", fp8_recipe_,
      {"<name>",
       "With fp8: a tensor is scaled by the maxima of earlier steps (delayed), by its own maximum "
       "(current), each row and each column by its own (rowwise), or each block of 32 numbers "
       "(mx) or 128 (block).",
       "", "delayed"})
      .Suggest({"delayed", "current", "rowwise", "mx", "block"});
  Add(memory, "--recompute-parts", recompute_parts_,
      {"<names>",
       "Parts of every block that the backward computes again, besides --recompute: norms, the "
       "queries, keys and values of latent attention (latents), and activation functions.",
       "a list separated by commas", "none"})
      .Suggest({"norms", "latents", "activations"});
  Add(memory, "--keep-fp8,!--no-keep-fp8", degrees_.keeps_8_bits,
      {"",
       "With fp8: keep in 8 bits what waits for the weight gradients of GEMMs, and the inputs of "
       "activation functions.",
       "", "off"});
  Add(memory, "--gradient-bytes", degrees_.gradient_bytes,
      {"<n>", "Bytes per element of gradients as they are accumulated and reduced.", "2 or 4",
       "4, or 2 with fp16"})
      .OneOf({"2", "4"});
  Add(flags.In(FlagTopic::kParallelism), "--cp-exchange", context_exchange_,
      {"<name>",
       "How context-parallel ranks get all keys and values: passed round a ring, gathered "
       "beforehand, or by two all-to-alls that divide attention by heads (ulysses).",
       "", "ring"})
      .Suggest({"ring", "gather", "ulysses"});
  Add(flags.In(FlagTopic::kParallelism), "--embedding-placement", embedding_placement_,
      {"<name>",
       "The embedding is on the first stage and the head on the last; with redistributed the last "
       "stage has fewer blocks to make up for the head. With the others every stage holds an equal "
       "share of the vocabulary: vocabulary parallelism with two barriers (vocab-1) or one "
       "(vocab-2), with 1f1b, v-half or v-min; or all stages at once (interlaced), with 1f1b.",
       "", "first-last"})
      .Suggest({"first-last", "redistributed", "vocab-1", "vocab-2", "interlaced"});
  Add(flags.In(FlagTopic::kNetwork), "--expert-imbalance", degrees_.expert_imbalance,
      {"<x>", "Tokens for the experts of the busiest rank, over the mean of all ranks.",
       "1 or more", "1"})
      .AtLeast(1);
  Add(flags.In(FlagTopic::kParallelism), "--expert-sends", expert_sends_,
      {"<name>",
       "Copies of a token's row that go to its experts: one for each of them (every-copy), or one "
       "for each node that has some, whose ranks pass it on (once-per-node).",
       "", "every-copy"})
      .Suggest({"every-copy", "once-per-node"});
  Add(flags.In(FlagTopic::kParallelism), "--fp8-dispatch,!--no-fp8-dispatch",
      degrees_.expert_exchange.dispatches_8_bits,
      {"", "Rows go to their experts in 8 bits, and come back in 16.", "", "off"});
  Add(flags.In(FlagTopic::kParallelism), "--grouped-experts,!--no-grouped-experts", groups_experts_,
      {"", "The experts of a rank multiply in one grouped GEMM, in place of one for each.", "",
       "on"});
  Add(flags.In(FlagTopic::kNetwork), "--forward-only", degrees_.forward_only,
      {"", "The step has no backward and no update."});
}

void PlanFlags::RegisterOffloading(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kMemory);
  Add(group, "--offload-optimizer", degrees_.offload.optimizer,
      {"", "Keep Adam's states in host memory and update weights on the CPU (ZeRO-Offload)."});
  Add(group, "--offload-activations", degrees_.offload.activations,
      {"<x>", "Share of the saved activations that is kept in host memory until the backward.",
       "0 to 1", "0"})
      .Between(0.0, 1.0);
  Add(group, "--host-memory-gib", host_memory_gib_,
      {"<gib>", "GiB of host memory of a node, for --offload-optimizer and --offload-activations.",
       "0 or more", "0"})
      .AtLeast(0);
}

void PlanFlags::RegisterOverlap(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kOverlap);
  Add(group, "--overlap-grad-reduce,!--no-overlap-grad-reduce", degrees_.overlap_grad_reduce,
      {"", "Reduce gradients while the backward still computes.", "", "on"});
  Add(group, "--overlap-param-gather,!--no-overlap-param-gather", degrees_.overlap_param_gather,
      {"", "Gather parameters while the forward already computes.", "", "off"});
  Add(group, "--overlap-p2p,!--no-overlap-p2p", degrees_.overlap_p2p,
      {"", "Compute while activations go to the next stage.", "", "on"});
  Add(group, "--overlap-tp,!--no-overlap-tp", degrees_.overlap_tensor,
      {"", "Overlap tensor-parallel collectives with the GEMMs that they belong to.", "", "off"});
  Add(group, "--bucket-bytes", degrees_.bucket_bytes,
      {"<bytes>", "Bytes of gradients that are reduced in one collective.", "",
       "as Megatron-core: the larger of 40 million parameters and a million per replica"});
  Add(group, "--reshard,!--no-reshard", degrees_.reshard_after_forward,
      {"",
       "With --zero 3: drop the parameters after the forward and gather them again for the "
       "backward.",
       "", "on"});
  Add(group, "--post-validation,!--no-post-validation", degrees_.post_validation,
      {"",
       "A stage updates its weights without waiting for the norm of all gradients, which is "
       "checked later.",
       "", "off"});
}

void PlanFlags::RegisterFramework(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kParallelism);
  Add(group, "--compiled", is_compiled_,
      {"", "A compiler fuses what lies between GEMMs (torch.compile, XLA).", "",
       "as the stack does, else off"});
  Add(group, "--backward-prefetch", backward_prefetch_,
      {"<name>",
       "With --zero 3: the backward gathers a layer's parameters before (pre) or after (post) the "
       "layer that comes first has computed.",
       "", "pre"})
      .Suggest({"pre", "post"});
  Add(group, "--param-gather", parameter_gather_,
      {"<name>",
       "With --zero 3: parameters are gathered layer by layer, ahead of their use, or tensor by "
       "tensor, once the layer before is done.",
       "", "layers"})
      .Suggest({"layers", "tensors"});
  Add(group, "--scatter-messages,!--no-scatter-messages", degrees_.framework.scatters_messages,
      {"",
       "Without sequence parallelism: each rank of a tensor-parallel group sends only its part of "
       "an "
       "activation to the next stage, which gathers the parts.",
       "", "as the stack does, else off"});
  Add(group, "--param-exchange", parameter_exchange_,
      {"<name>",
       "With --zero 1 or 2: ranks hand on what they updated by one gather, or by broadcasts, one "
       "of each rank.",
       "", "gather"})
      .Suggest({"gather", "broadcasts"});
}

bool PlanFlags::IsGiven(const std::string& flag) const {
  for (const Flag& option : degree_options_) {
    if (option.Has(flag)) return option.is_given();
  }
  return attention_option_.Has(flag) && (ChoosesAttention() || keeps_attention_);
}

bool PlanFlags::ChoosesAttention() const { return attention_option_.is_given(); }

void PlanFlags::UseUnfusedAttention() {
  attention_ = "unfused";
  keeps_attention_ = true;
}

}  // namespace stagecraft
