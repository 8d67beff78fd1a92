// How torchtitan divides layers among the parts of a pipeline.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stagecraft {

// Returns the layers of every part if they are divided evenly, with the embedding and the head: the
// embedding counts as `first_less` layers and the head as `last_less`, and the first parts take
// what is left over. From memory of generate_llm_fqn_per_model_part() in torchtitan.
std::vector<int> TorchtitanParts(int blocks, int parts, int first_less, int last_less);

// Returns the layers of every part that a list of lists of module names stands for:
// [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]]. Throws an InputError that
// begins with `place` unless it has every layer of the network once, in order.
std::vector<int> PartsOfModules(const nlohmann::json& modules, const std::string& place,
                                int blocks);

// The module names of parts with these numbers of layers, as a JSON list of lists.
nlohmann::json ModulesOfParts(const std::vector<int>& parts);

}  // namespace stagecraft
