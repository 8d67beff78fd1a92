// Reads JSON and YAML as such, whatever they mean.
#include <nlohmann/json.hpp>

#include "costmodel/json_to_proto.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const bool is_json = fuzz::Accepts([&] { ParseJson(text, "input.json"); });
  const bool is_yaml = fuzz::Accepts([&] { ParseYaml(text, "input.yaml"); });
  if (is_json || is_yaml) fuzz::CountAccepted();
  return 0;
}
