#include "tools/recorded/kineto_event.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "tools/recorded/recording.h"

namespace stagecraft {
namespace {

using Words = std::unordered_map<std::string_view, KinetoKey>;

const Words& EventWords() {
  static const Words words = {{"ph", KinetoKey::kPhase},     {"cat", KinetoKey::kCategory},
                              {"name", KinetoKey::kName},    {"pid", KinetoKey::kProcess},
                              {"tid", KinetoKey::kThread},   {"ts", KinetoKey::kStart},
                              {"dur", KinetoKey::kDuration}, {"args", KinetoKey::kArgs}};
  return words;
}

const Words& ArgumentWords() {
  static const Words words = {{"External id", KinetoKey::kExternal},
                              {"correlation", KinetoKey::kCorrelation},
                              {"device", KinetoKey::kDevice},
                              {"stream", KinetoKey::kStream},
                              {"Input Dims", KinetoKey::kInputDims},
                              {"Input type", KinetoKey::kInputTypes},
                              {"Concrete Inputs", KinetoKey::kInputValues},
                              {"Sequence number", KinetoKey::kSequence},
                              {"Collective name", KinetoKey::kCollective},
                              {"In msg nelems", KinetoKey::kInElements},
                              {"Out msg nelems", KinetoKey::kOutElements},
                              {"Group size", KinetoKey::kGroupSize},
                              {"dtype", KinetoKey::kDType},
                              {"Process Group Name", KinetoKey::kGroup},
                              {"Seq", KinetoKey::kGroupSequence},
                              {"Process Group Ranks", KinetoKey::kGroupRanks},
                              {"stagecraft task", KinetoKey::kOwnTask},
                              {"stagecraft class", KinetoKey::kOwnClass},
                              {"stagecraft phase", KinetoKey::kOwnPhase},
                              {"stagecraft lane", KinetoKey::kOwnLane},
                              {"stagecraft rank", KinetoKey::kOwnRank},
                              {"stagecraft stage", KinetoKey::kOwnStage},
                              {"stagecraft chunk", KinetoKey::kOwnChunk},
                              {"stagecraft micro-batch", KinetoKey::kOwnMicroBatch},
                              {"stagecraft segment", KinetoKey::kOwnSegment},
                              {"stagecraft layer", KinetoKey::kOwnLayer}};
  return words;
}

KinetoKey Find(const Words& words, std::string_view word) {
  const auto found = words.find(word);
  return found == words.end() ? KinetoKey::kNone : found->second;
}

constexpr size_t kDigits = 3;  // of nanoseconds
constexpr int64_t kPerMicrosecond = 1000;
constexpr int64_t kMostMicroseconds = kMostTraceNs / kPerMicrosecond;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads a number with an exponent, which no known program writes, as well as a double can.
std::optional<int64_t> RoundedNanoseconds(std::string_view microseconds) {
  const char* const end = microseconds.data() + microseconds.size();
  double value = 0;
  const auto [last, error] = std::from_chars(microseconds.data(), end, value);
  const bool is_number = error == std::errc() && last == end;
  if (!is_number || !(std::abs(value) < static_cast<double>(kMostMicroseconds))) return {};
  return static_cast<int64_t>(std::llround(value * kPerMicrosecond));
}

}  // namespace

KinetoKey FindEventKey(std::string_view word) { return Find(EventWords(), word); }
KinetoKey FindArgumentKey(std::string_view word) { return Find(ArgumentWords(), word); }

const char* Word(KinetoKey key) {
  for (const Words* words : {&EventWords(), &ArgumentWords()}) {
    for (const auto& [word, named] : *words) {
      if (named == key) return word.data();
    }
  }
  return "";
}

void KinetoEvent::Clear() {
  for (std::string* text : {&phase, &category, &name, &collective, &dtype, &group, &ranks,
                            &own_class, &own_phase, &own_lane}) {
    text->clear();
  }
  for (int64_t* number : {&process, &thread, &external, &correlation, &device, &stream, &sequence,
                          &in_elements, &out_elements, &group_sequence, &own_task, &own_rank,
                          &own_stage, &own_chunk, &own_micro_batch, &own_layer}) {
    *number = -1;
  }
  own_segment = group_size = 0;
  start_ns.reset();
  duration_ns.reset();
  dims.clear();
  types.clear();
  values.clear();
}

std::optional<int64_t> NanosecondsOf(std::string_view microseconds) {
  const char* const end = microseconds.data() + microseconds.size();
  int64_t whole = 0;
  const auto [after, error] = std::from_chars(microseconds.data(), end, whole);
  const bool has_digits = error == std::errc() && (after == end || *after == '.');
  const std::string_view fraction =
      has_digits && after != end ? std::string_view(after + 1, end) : std::string_view();
  const bool is_plain = has_digits && std::all_of(fraction.begin(), fraction.end(), IsDigit);
  if (!is_plain) return RoundedNanoseconds(microseconds);
  if (whole > kMostMicroseconds || whole < -kMostMicroseconds) return {};
  int64_t part = 0;  // what is below a nanosecond is cut off
  for (size_t digit = 0; digit < kDigits; ++digit) {
    part = 10 * part + (digit < fraction.size() ? fraction[digit] - '0' : 0);
  }
  return kPerMicrosecond * whole + (microseconds.starts_with('-') ? -part : part);
}

}  // namespace stagecraft
