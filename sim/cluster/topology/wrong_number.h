// A sentence about a number that is out of range: "devices: got 9, want from 1 to 8".
#pragma once

#include <string>

namespace stagecraft {

inline std::string WrongNumber(const std::string& key, int value, const std::string& want) {
  return key + ": got " + std::to_string(value) + ", want " + want;
}

}  // namespace stagecraft
