#include "tools/verb/foreign_flags.h"

#include <algorithm>
#include <cctype>

namespace stagecraft {
namespace {

struct ForeignFlag {
  const char* theirs;  // in lower case, with dashes
  const char* ours;
};

// Flags that have the same meaning as one of ours, or choose one of its values.
constexpr ForeignFlag kSame[] = {
    {"--tensor-model-parallel-size", "--tp"},
    {"--tensor-parallel-size", "--tp"},
    {"--tensor-parallel-degree", "--tp"},
    {"--tp-size", "--tp"},
    {"--pipeline-model-parallel-size", "--pp"},
    {"--pipeline-parallel-size", "--pp"},
    {"--pipeline-parallel-degree", "--pp"},
    {"--pp-size", "--pp"},
    {"--context-parallel-size", "--cp"},
    {"--context-parallel-degree", "--cp"},
    {"--cp-size", "--cp"},
    {"--expert-model-parallel-size", "--ep"},
    {"--expert-parallel-size", "--ep"},
    {"--expert-parallel-degree", "--ep"},
    {"--ep-size", "--ep"},
    {"--data-parallel-size", "--dp"},
    {"--data-parallel-degree", "--dp"},
    {"--data-parallel-replicate-degree", "--dp"},
    {"--dp-size", "--dp"},
    {"--data-parallel-shard-degree", "--zero-group"},
    {"--virtual-pipeline-model-parallel-size", "--vpp"},
    {"--num-virtual-stages-per-pipeline-rank", "--vpp"},
    {"--pipeline-parallel-schedule", "--schedule"},
    {"--micro-batch-size", "--micro-batch"},
    {"--train-micro-batch-size-per-gpu", "--micro-batch"},
    {"--per-device-train-batch-size", "--micro-batch"},
    {"--local-batch-size", "--micro-batch"},
    {"--batch-size", "--global-batch"},
    {"--global-batch-size", "--global-batch"},
    {"--train-batch-size", "--global-batch"},
    {"--seq-length", "--seq"},
    {"--seq-len", "--seq"},
    {"--sequence-length", "--seq"},
    {"--max-seq-len", "--seq"},
    {"--max-seq-length", "--seq"},
    {"--max-length", "--seq"},
    {"--use-distributed-optimizer", "--zero"},
    {"--zero-stage", "--zero"},
    {"--use-torch-fsdp2", "--zero"},
    {"--fsdp", "--zero"},
    {"--recompute-granularity", "--recompute"},
    {"--recompute-activations", "--recompute"},
    {"--activation-checkpointing", "--recompute"},
    {"--gradient-checkpointing", "--recompute"},
    {"--bf16", "--precision"},
    {"--fp16", "--precision"},
    {"--tf32", "--precision"},
    {"--dtype", "--precision"},
    {"--params-dtype", "--precision"},
    {"--mixed-precision", "--precision"},
    {"--fp8-format", "--precision"},
    {"--use-flash-attn", "--attention"},
    {"--attention-backend", "--attention"},
    {"--attn-implementation", "--attention"},
    {"--optim", "--optimizer"},
    {"--torch-compile", "--compiled"},
    {"--tp-comm-overlap", "--overlap-tp"},
    {"--optimizer-cpu-offload", "--offload-optimizer"},
    {"--cpu-offload", "--offload-optimizer"},
    {"--cp-comm-type", "--cp-exchange"},
    {"--train-iters", "--steps"},
    {"--max-steps", "--steps"},
    {"--train-tokens", "--tokens"},
    {"--output-file", "--output"},
};

// Flags that one of ours includes, or that say the same by another number.
constexpr ForeignFlag kParts[] = {
    {"--num-layers-per-virtual-pipeline-stage", "--vpp"},
    {"--num-layers", "--model"},
    {"--n-layers", "--model"},
    {"--hidden-size", "--model"},
    {"--ffn-hidden-size", "--model"},
    {"--num-attention-heads", "--model"},
    {"--num-query-groups", "--model"},
    {"--group-query-attention", "--model"},
    {"--kv-channels", "--model"},
    {"--vocab-size", "--model"},
    {"--make-vocab-size-divisible-by", "--model"},
    {"--max-position-embeddings", "--model"},
    {"--num-experts", "--model"},
    {"--moe-router-topk", "--model"},
    {"--moe-ffn-hidden-size", "--model"},
    {"--swiglu", "--model"},
    {"--untie-embeddings-and-output-weights", "--model"},
    {"--model-name-or-path", "--model"},
    {"--gradient-accumulation-steps", "--global-batch"},
    {"--rampup-batch-size", "--global-batch"},
    {"--nnodes", "--cluster"},
    {"--num-nodes", "--cluster"},
    {"--nodes", "--cluster"},
    {"--nproc-per-node", "--cluster"},
    {"--gpus-per-node", "--cluster"},
    {"--num-gpus", "--cluster"},
    {"--gpus", "--cluster"},
    {"--gpu", "--cluster"},
    {"--world-size", "--cluster"},
};

}  // namespace

std::string OwnFlagFor(const std::string& flag, const std::vector<std::string>& known) {
  std::string folded = flag;
  std::transform(folded.begin(), folded.end(), folded.begin(), [](unsigned char c) {
    return c == '_' ? '-' : static_cast<char>(std::tolower(c));
  });
  const auto stands_for = [&](const ForeignFlag& foreign) {
    return folded == foreign.theirs &&
           std::find(known.begin(), known.end(), foreign.ours) != known.end();
  };
  for (const ForeignFlag& foreign : kSame) {
    if (stands_for(foreign)) return std::string("here it is ") + foreign.ours;
  }
  for (const ForeignFlag& foreign : kParts) {
    if (stands_for(foreign)) return std::string("here ") + foreign.ours + " says it";
  }
  return "";
}

}  // namespace stagecraft
