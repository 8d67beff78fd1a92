// KinetoEvent: the parts of an event of Kineto's JSON that are of use, and the words of its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// Keys of an event, of its `args`, and of the file's head that are read.
enum class KinetoKey {
  kNone,
  // These are keys of an event.
  kPhase,
  kCategory,
  kName,
  kProcess,
  kThread,
  kStart,
  kDuration,
  kArgs,
  // These are keys of the object `args` of an event.
  kExternal,
  kCorrelation,
  kDevice,
  kStream,
  kInputDims,
  kInputTypes,
  kInputValues,
  kSequence,
  kCollective,
  kInElements,
  kOutElements,
  kGroupSize,
  kDType,
  kGroup,
  kGroupSequence,
  kGroupRanks,
  // These are keys of `args` that only this program writes.
  kOwnTask,
  kOwnClass,
  kOwnPhase,
  kOwnLane,
  kOwnRank,
  kOwnStage,
  kOwnChunk,
  kOwnMicroBatch,
  kOwnSegment,
  kOwnLayer,
};
KinetoKey FindEventKey(std::string_view word);
KinetoKey FindArgumentKey(std::string_view word);
const char* Word(KinetoKey key);

struct KinetoEvent {
  std::string phase, category, name;
  int64_t process = -1, thread = -1;
  std::optional<int64_t> start_ns, duration_ns;
  int64_t external = -1, correlation = -1, device = -1, stream = -1, sequence = -1;
  std::vector<std::vector<int64_t>> dims;  // of each input; empty for inputs that are no tensors
  std::vector<std::string> types;
  std::vector<std::string> values;  // of inputs that are no tensors, as text
  std::string collective, dtype, group, ranks;
  int64_t in_elements = -1, out_elements = -1, group_size = 0, group_sequence = -1;
  int64_t own_task = -1, own_rank = -1, own_stage = -1, own_chunk = -1, own_micro_batch = -1,
          own_segment = 0;
  int64_t own_layer = -1;
  std::string own_class, own_phase, own_lane;

  // Forgets everything, and keeps the memory.
  void Clear();
};

// Returns the nanoseconds of a decimal number of microseconds, as it is written: "140.125" is
// 140,125. No value for what is no decimal number, and beyond kMostTraceNs (recording.h).
std::optional<int64_t> NanosecondsOf(std::string_view microseconds);

}  // namespace stagecraft
