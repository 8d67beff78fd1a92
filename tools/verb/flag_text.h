// FlagText: what the help says about a flag. FlagTopic: the group of the help that shows the flag.
#pragma once

#include <string>

namespace stagecraft {

// Groups of the help, in the order in which they are printed. A group holds its flags in the order
// in which they are added: put first what a user needs first.
enum class FlagTopic {
  kInput,
  kNetwork,
  kCluster,
  kParallelism,
  kSchedule,
  kMemory,
  kOverlap,
  kCostModel,
  kCost,
  kSearch,
  kPlanner,
  kPolicy,
  kTraining,
  kMeasurement,
  kOutput
};
inline constexpr int kFlagTopicCount = 15;

// What the help says about a flag.
struct FlagText {
  std::string value;       // stands for the value: "<n>"; empty for a switch
  std::string help;        // whole sentences
  std::string range = {};  // "1 to 1000"; if empty, OneOf() and Between() set it
  std::string usual = {};  // the default
};

}  // namespace stagecraft
