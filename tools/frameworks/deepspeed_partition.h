// How DeepSpeed's PipelineModule divides layers among stages.
#pragma once

#include <vector>

namespace stagecraft {

// partition_method "uniform": every stage has equally many layers, the embedding and the head
// included, and the first stages one more if they do not divide evenly. From memory of
// deepspeed/runtime/utils.py, partition_uniform().
std::vector<int> UniformPartition(int layers, int stages);

// partition_method "type:REGEX" for transformer blocks: these are divided evenly, and what is left
// over goes to the last stages; the embedding and the head go to the first and the last stage.
std::vector<int> BalancedPartition(int layers, int stages);

}  // namespace stagecraft
