#include "runtime/cuda/stand_in/stand_in_gpu.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr const char* kPlace = "STAGECRAFT_STAND_IN: ";

[[noreturn]] void RefuseWord(const std::string& word, const std::string& want) {
  throw InputError(kPlace + ("got \"" + word + "\", want " + want));
}

int Number(const std::string& word, std::string_view value) {
  const std::optional<int> number = ParseNumber<int>(value);
  if (!number || *number < 0) RefuseWord(word, "a number that is not below zero");
  return *number;
}

// Sets the field that a word KEY=VALUE names.
using Setter = void (*)(const std::string& word, std::string_view value, StandInGpu& gpu);

template <int StandInGpu::*field>
void SetNumber(const std::string& word, std::string_view value, StandInGpu& gpu) {
  gpu.*field = Number(word, value);
}

template <size_t StandInGpu::*field>
void SetMebibytes(const std::string& word, std::string_view value, StandInGpu& gpu) {
  constexpr int kMebibyteBits = 20;
  gpu.*field = static_cast<size_t>(Number(word, value)) << kMebibyteBits;
}

template <bool StandInGpu::*claim>
void SetClaim(const std::string& word, std::string_view value, StandInGpu& gpu) {
  if (value != "yes" && value != "no") RefuseWord(word, "yes or no");
  gpu.*claim = value == "yes";
}

void SetData(const std::string& word, std::string_view value, StandInGpu& gpu) {
  if (value == "yes")
    gpu.data = StandInData::kCalculated;
  else if (value == "checked")
    gpu.data = StandInData::kChecked;
  else if (value == "no")
    gpu.data = StandInData::kIgnored;
  else
    RefuseWord(word, "yes, checked or no");
}

void SetMissing(const std::string&, std::string_view value, StandInGpu& gpu) {
  gpu.missing.insert(std::string(value));
}

void SetFailure(const std::string& word, std::string_view value, StandInGpu& gpu) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) RefuseWord(word, "fail=FUNCTION:NTH");
  gpu.fails = {std::string(value.substr(0, colon)), Number(word, value.substr(colon + 1))};
}

void SetName(const std::string&, std::string_view value, StandInGpu& gpu) {
  gpu.name = value;
  std::replace(gpu.name.begin(), gpu.name.end(), '_', ' ');
}

struct Field {
  std::string_view key;
  Setter set;
};
constexpr Field kFields[] = {
    {"gpus", SetNumber<&StandInGpu::gpus>},
    {"groups", SetNumber<&StandInGpu::groups>},
    {"rest", SetNumber<&StandInGpu::rest>},
    {"watts", SetNumber<&StandInGpu::watts>},
    {"call", SetNumber<&StandInGpu::call_nanoseconds>},
    {"memory", SetMebibytes<&StandInGpu::memory>},
    {"cache", SetMebibytes<&StandInGpu::cache>},
    {"green-contexts", SetClaim<&StandInGpu::has_green_contexts>},
    {"driver-is-old", SetClaim<&StandInGpu::driver_is_old>},
    {"graphs-keep-to-parts", SetClaim<&StandInGpu::graphs_keep_to_parts>},
    {"cudnn-compares-contexts", SetClaim<&StandInGpu::cudnn_compares_contexts>},
    {"cudnn-refuses-parts", SetClaim<&StandInGpu::cudnn_refuses_parts>},
    {"cudnn-knows-parts", SetClaim<&StandInGpu::cudnn_knows_parts>},
    {"throttled", SetClaim<&StandInGpu::is_throttled>},
    {"data", SetData},
    {"missing", SetMissing},
    {"fail", SetFailure},
    {"name", SetName}};

}  // namespace

StandInGpu CheckedGpu() {
  StandInGpu gpu;
  gpu.data = StandInData::kChecked;
  return gpu;
}

StandInGpu ParseStandInGpu(std::string_view words) {
  StandInGpu gpu;
  std::istringstream in{std::string(words)};
  for (std::string word; in >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = std::string_view(word).substr(0, equals);
    const std::string_view value = std::string_view(word).substr(std::min(equals + 1, word.size()));
    const auto* const field = std::find_if(std::begin(kFields), std::end(kFields),
                                           [&](const Field& one) { return one.key == key; });
    if (field == std::end(kFields)) RefuseWord(word, "a field of a GPU");
    field->set(word, value, gpu);
  }
  return gpu;
}

}  // namespace stagecraft
