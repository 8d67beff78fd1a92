// FlagEntry: the description of one flag, and CLI11's option that parses it.
#pragma once

#include <functional>
#include <string>

#include "tools/verb/flags.h"

namespace CLI {
class Option;
}

namespace stagecraft {

enum class FlagType { kSwitch, kInteger, kNumber, kText };

// How the text of a number is read (quantity.h).
enum class NumberForm { kDecimal, kBinary, kSeconds };

struct FlagEntry {
  FlagTopic topic = FlagTopic::kInput;
  Args names;      // "-o", "--output"; "FILE" for a positional word
  Args negations;  // "--no-explain"
  FlagType type = FlagType::kSwitch;
  bool is_list = false;                    // takes several values
  NumberForm form = NumberForm::kDecimal;  // of integers and numbers
  FlagText text = {};
  Args choices = {};  // of OneOf()
  std::function<Args()> suggestions = {};
  bool is_common = false;
  bool is_required = false;
  CLI::Option* option = nullptr;

  bool is_positional() const { return !names[0].starts_with('-'); }
};

}  // namespace stagecraft
