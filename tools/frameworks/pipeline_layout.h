// The layouts of Megatron-core's --pipeline-model-parallel-layout: "Et*3|(tt|)*29,m|L".
//
// E is the embedding, t a transformer block, m a block that predicts further tokens, L the loss
// with the output projection; '|' separates parts of the pipeline; x*n repeats a symbol, (...)*n a
// group; commas mean nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// Returns the number of layers of every part, the embedding and the head included. Throws an
// InputError that begins with `place` for other text, and unless the layout has each layer of the
// network once, in order.
std::vector<int> ReadPipelineLayout(std::string_view text, const std::string& place, int blocks,
                                    int prediction_layers);

// The text of a layout whose parts have these numbers of layers. Precondition: they add up to the
// blocks, the prediction layers, the embedding and the head.
std::string PipelineLayoutText(const std::vector<int>& part_layers, int blocks,
                               int prediction_layers);

}  // namespace stagecraft
