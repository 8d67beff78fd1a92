// JSON Schemas (draft 2020-12) of what verbs print with --json, made from short descriptions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// Returns the schema that `description`, the YAML text of outputs/NAME.yaml, stands for. Its parts
// may name those of `shared`, the text of outputs/shared.yaml.
//
//   step_time_ms: number; time of a training step     a type, and what it means
//   mfu: number|null                                  one of several types
//   plan: $plan                                       a part of shared.yaml
//   memory: [$stage_memory]                           a list
//   stack: {name: string}                             an object with these keys and no others
//   steady_state~: {...}                              a key that may be absent
//   curves: {"*": [$point]}                           an object with any keys
//   stages: {$or: [[integer], "null"]}                one of several parts
//
// `place` opens the sentences of InputErrors.
nlohmann::ordered_json OutputSchema(const std::string& title, const std::string& description,
                                    const std::string& shared, const std::string& place);

}  // namespace stagecraft
