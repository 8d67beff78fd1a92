#include "tests/random_lines/plan_words.h"

#include <algorithm>

#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft::random_lines {
namespace {

struct NamedCluster {
  const char* spec;
  int devices;
  const char* precision;  // a format that all its GPU types have
};

constexpr NamedCluster kClusters[] = {{"h100-sxm:1x1", 1, "bf16"},
                                      {"h100-sxm:1x2", 2, "bf16"},
                                      {"h100-sxm:1x8", 8, "bf16"},
                                      {"h100-sxm:2x8", 16, "bf16"},
                                      {"dgx-h100:1", 8, "fp8"},
                                      {"b200:1x8", 8, "nvfp4"},
                                      {"dgx-a100:1x4", 4, "bf16"},
                                      {"a100-sxm4-80gb:2x4", 8, "bf16"},
                                      {"a100-sxm4-80gb:3x8", 24, "bf16"},
                                      {"aws-p3.16xlarge:1", 8, "fp16"},
                                      {"aws-p3.16xlarge:2", 16, "fp16"},
                                      {"v100-sxm2-16gb:1x4", 4, "fp16"},
                                      {"h100-sxm:1x4+a100-sxm4-80gb:1x4", 8, "bf16"},
                                      {"a100-sxm4-40gb:1x8+v100-sxm2-32gb:1x8", 16, "fp16"}};

std::string Model(WordSource& words) {
  if (words.Chance(10)) return words.File("hf_config");
  if (words.Chance(5)) return words.File("workload");
  if (words.Chance(5)) return words.File("graph_txt");
  if (words.Chance(3)) return words.OneOf({"llama2-7b", "deepseek-v2-lite", "t5-base", "vit-l-16"});
  if (words.Chance(15)) {
    return words.OneOf({"bert-base", "t5-small", "vit-b-32", "resnet50", "vgg16@64", "unet",
                        "yolov3@64", "deepspeech2@100", "gnmt-8", "alexnet", "switch-base-8",
                        "mixtral-8x7b", "qwen3-30b-a3b"});
  }
  return words.OneOf({"gpt2-tiny", "gpt2", "megatron:4x256x4", "megatron:8x512x8",
                      "megatron:6x64x4", "opt-125m", "bloom-560m", "qwen2.5-0.5b"});
}

// Returns a power of two, now and then another number.
int Degree(int most, WordSource& words) {
  if (words.Chance(4)) return words.Between(0, 9);
  int degree = 1;
  while (degree * 2 <= most && words.Chance(45)) degree *= 2;
  return degree;
}

void AddSchedule(int stages, WordSource& words) {
  if (words.Chance(50)) return;
  std::vector<std::string> names;
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) names.push_back(Name(schedule));
  const std::string name = words.OneOf(names);
  const PipelineSchedule schedule = *FindPipelineSchedule(name);
  words.Add("--schedule", name);
  if (LeastChunks(schedule) > 1 ? words.Chance(90) : words.Chance(5)) words.Add("--vpp", 2);
  if (Reads(schedule, kReadsGroups) && words.Chance(20)) words.Add("--order-group", stages);
  if (Reads(schedule, kReadsWarmup)) words.Maybe(20, "--warmup", {"a", "b", "c"});
  if (Reads(schedule, kReadsSlots)) words.Maybe(30, "--two-forwards-slot");
  if (Reads(schedule, kReadsPairing)) words.Maybe(4, "--overlap-experts");
  if (Reads(schedule, kReadsWeightSync)) words.Maybe(30, "--vertical-sync");
  if (Reads(schedule, kReadsActivationLimit)) {
    words.Maybe(40, "--activation-limit", {"0", "0.3", "1", "2.5"});
  }
}

void AddRecomputation(WordSource& words) {
  words.Maybe(25, "--recompute", {"none", "selective", "full", "some"});
  words.Maybe(4, "--recompute-layers", {"1-2", "0-3,5", "1", "9-1", "1-99"});
  words.Maybe(4, "--recompute-num-layers", {"1", "2,1", "0", "3"});
  words.Maybe(4, "--recompute-method", {"block", "uniform"});
}

void AddGradientSync(WordSource& words) {
  if (words.Chance(90)) return;
  words.Add("--gradient-sync",
            words.OneOf({"all-reduce", "ring", "tree", "hierarchical", "parameter-server",
                         "sharded-parameter-server", "rolling-server", "gossip", "reduction-server",
                         "byteps"}));
  words.Maybe(30, "--sync-servers", {"1", "2", "0"});
  words.Maybe(30, "--sync-peers", {"1", "2", "3"});
  words.Maybe(10, "--sync-step", {"0", "5"});
  words.Maybe(10, "--dead-server", {"0", "1", "9"});
  words.Maybe(10, "--sync-timeout-ms", {"0", "2.5", "1e6"});
}

}  // namespace

int AddProblem(WordSource& words) {
  words.Add("--model", Model(words));
  int devices = 0;
  std::string precision = "fp32";
  if (words.Chance(12)) {
    words.Add("--cluster", words.File("cluster"));
  } else {
    const NamedCluster& cluster = kClusters[words.Below(std::size(kClusters))];
    words.Add("--cluster", cluster.spec);
    devices = cluster.devices;
    precision = cluster.precision;
  }
  words.Maybe(4, "--frozen", {"embedding", "0-1", "blocks", "1,head", "encoder", "0-99"});
  if (words.Chance(4)) words.Add("--layer-state", words.File("layer_state"));
  words.Add("--global-batch", words.OneOf({"8", "16", "24", "32", "64", "48"}));
  words.Add("--seq", words.OneOf({"64", "128", "256", "512", "1024", "100"}));
  if (words.Chance(95)) {
    words.Add("--precision", words.Chance(92)
                                 ? precision
                                 : words.OneOf({"bf16", "fp16", "fp32", "tf32", "fp8", "nvfp4"}));
  }
  return devices;
}

void AddPlan(int devices, WordSource& words) {
  if (words.Chance(8)) {
    words.Add("--plan", words.File("plan"));
    return;
  }
  if (words.Chance(3)) words.Add("--order-file", words.File("schedule_csv"));
  int left = devices == 0 ? 8 : devices;
  const int tensor = Degree(std::min(left, 8), words);
  left /= std::max(tensor, 1);
  const int stages = Degree(std::min(left, 4), words);
  left /= std::max(stages, 1);
  if (tensor != 1) words.Add("--tp", tensor);
  if (stages != 1) words.Add("--pp", stages);
  if (words.Chance(12)) words.Add("--cp", Degree(left, words));
  if (words.Chance(12)) words.Add("--ep", Degree(left, words));
  if (words.Chance(5)) words.Add("--dp", Degree(left, words));
  words.Maybe(25, "--micro-batch", {"1", "2", "4", "3"});
  words.Maybe(2, "--stage-layers", {"2,2", "1,3", "4", "1,1,1,1"});
  words.Maybe(2, "--replica-micro-batches", {"4,4", "5,3", "6,2", "8"});
  words.Maybe(2, "--stage-replicas", {"3,1", "2,2", "1,2"});
  words.Maybe(5, "--rank-order", {"tp-cp-ep-pp-dp", "pp-tp-cp-ep-dp", "dp-tp", "tp-cp-ep-dp-pp"});
  words.Maybe(20, "--zero", {"0", "1", "2", "3", "4"});
  words.Maybe(4, "--zero-group", {"1", "2", "4"});
  words.Maybe(4, "--stack", {"megatron-core", "deepspeed", "fsdp", "ddp", "torchgpipe", "other"});
  AddSchedule(stages, words);
  AddRecomputation(words);
}

void AddStep(WordSource& words) {
  words.Maybe(5, "--bucket-bytes", {"0", "1000000", "25000000"});
  words.Maybe(10, "--cp-exchange", {"ring", "gather", "ulysses"});
  words.Maybe(15, "--optimizer", {"adam", "adam8bit", "adam16bit", "sgd", "sgd-plain"});
  words.Maybe(5, "--expert-imbalance", {"1", "1.5", "8", "0.5"});
  words.Maybe(5, "--expert-sends", {"every-copy", "once-per-node", "twice"});
  words.Maybe(5, "--recompute-parts", {"none", "norms", "latents,activations", "norms,", "all"});
  words.Maybe(5, "--fp8-recipe", {"delayed", "current", "mx", "block"});
  words.Maybe(5, "--gradient-bytes", {"2", "4", "8"});
  words.Maybe(5, "--embedding-placement",
              {"first-last", "redistributed", "vocab-1", "vocab-2", "interlaced"});
  words.Maybe(8, "--attention", {"flash", "unfused", "flash1", "flash2", "flash3", "cudnn"});
  if (words.Chance(6)) {
    words.Add("--host-memory-gib", words.OneOf({"256", "2000", "0"}));
    words.Maybe(60, "--offload-optimizer");
    words.Maybe(60, "--offload-activations", {"0", "0.5", "1", "2"});
  }
  for (const char* flag :
       {"--sequence-parallel", "--no-sequence-parallel", "--no-overlap-grad-reduce",
        "--overlap-param-gather", "--no-overlap-p2p", "--post-validation", "--overlap-tp",
        "--no-reshard", "--forward-only", "--fp8-dispatch", "--no-grouped-experts", "--keep-fp8"}) {
    words.Maybe(5, flag);
  }
  AddGradientSync(words);
}

}  // namespace stagecraft::random_lines
