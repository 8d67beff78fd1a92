#include "tools/frameworks/torchtitan_stages.h"

#include <fmt/format.h>

#include <numeric>

#include "costmodel/check.h"
#include "tools/import/import_text.h"

namespace stagecraft {

std::vector<int> TorchtitanParts(int blocks, int parts, int first_less, int last_less) {
  const int units = blocks + first_less + last_less;
  std::vector<int> counts;
  for (int part = 0; part < parts; ++part) {
    int blocks_here = units / parts + (part < units % parts ? 1 : 0);
    if (part == 0) blocks_here -= first_less;
    if (part == parts - 1) blocks_here -= last_less;
    counts.push_back(blocks_here + (part == 0 ? 1 : 0) + (part == parts - 1 ? 1 : 0));
  }
  return counts;
}

std::vector<int> PartsOfModules(const nlohmann::json& modules, const std::string& place,
                                int blocks) {
  if (!modules.is_array() || modules.empty()) {
    throw InputError(place + ": want a list of lists of module names");
  }
  std::vector<int> counts;
  int next = 0;  // block
  bool has_embedding = false, has_output = false;
  for (const nlohmann::json& part : modules) {
    if (!part.is_array()) throw InputError(place + ": want a list of lists of module names");
    int count = 0;
    for (const nlohmann::json& one : part) {
      const std::string name = one.is_string() ? one.get<std::string>() : "";
      if (name == "norm") continue;  // goes with the output
      if (name == "tok_embeddings" && next == 0 && !has_embedding) {
        has_embedding = true;
      } else if (name == "output" && next == blocks && !has_output) {
        has_output = true;
      } else if (name == fmt::format("layers.{}", next)) {
        ++next;
      } else {
        throw InputError(fmt::format(
            "{}: got {}, want {}", place, Quoted(one.dump()),
            next < blocks ? fmt::format("layers.{}", next) : std::string("norm and output")));
      }
      ++count;
    }
    counts.push_back(count);
  }
  if (next == blocks && has_embedding && has_output) return counts;
  throw InputError(fmt::format(
      "{}: has {} of {} layers, want all of them, tok_embeddings and output", place, next, blocks));
}

nlohmann::json ModulesOfParts(const std::vector<int>& parts) {
  const int layers = std::accumulate(parts.begin(), parts.end(), 0);
  nlohmann::json modules = nlohmann::json::array();
  int layer = 0;
  for (const int count : parts) {
    nlohmann::json part = nlohmann::json::array();
    for (int end = layer + count; layer < end; ++layer) {
      if (layer == 0) {
        part.push_back("tok_embeddings");
      } else if (layer == layers - 1) {
        part.push_back("norm");
        part.push_back("output");
      } else {
        part.push_back(fmt::format("layers.{}", layer - 1));
      }
    }
    modules.push_back(std::move(part));
  }
  return modules;
}

}  // namespace stagecraft
