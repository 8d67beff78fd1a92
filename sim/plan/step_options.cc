#include "sim/plan/step_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "costmodel/attention_version.h"
#include "costmodel/divide.h"
#include "costmodel/listed.h"

namespace stagecraft {

namespace {

constexpr int64_t kBlock = 128;  // numbers of 8 bits that share a scale

// "fp16, fp32 or tf32": the formats in which a device multiplies, those of training first.
std::string FormatsOf(const Device& device) {
  std::vector<std::string> names;
  for (const DType dtype :
       {DType::kBf16, DType::kFp16, DType::kTf32, DType::kFp32, DType::kFp8, DType::kNvfp4}) {
    if (device.Peak(dtype).flop_per_s() > 0) names.push_back(Name(dtype));
  }
  return Listed(names, " or ");
}

}  // namespace

const char* Name(Optimizer optimizer) {
  constexpr const char* kNames[] = {"adam", "sgd", "adam8bit", "sgd-plain", "adam16bit"};
  return kNames[static_cast<int>(optimizer)];
}

Bytes OptimizerStates(Optimizer optimizer, int64_t working, int64_t parameters) {
  constexpr int64_t kWhole = 4;  // bytes of a master weight, a moment or a scale
  constexpr int64_t kMomentBlock = 256;
  const int64_t master = working < kWhole ? kWhole * parameters : 0;
  switch (optimizer) {
    case Optimizer::kAdam:
      return Bytes(master + 2 * kWhole * parameters);
    case Optimizer::kSgd:
      return Bytes(master + kWhole * parameters);
    case Optimizer::kAdam8Bit:
      return Bytes(master + 2 * (parameters + kWhole * DivideUp(parameters, kMomentBlock)));
    case Optimizer::kPlainSgd:
      return Bytes(master);
    case Optimizer::kAdam16Bit:
      return Bytes(master + 2 * 2 * parameters);
  }
  return Bytes();
}

const char* Name(ContextExchange exchange) {
  constexpr const char* kNames[] = {"ring", "gather", "ulysses"};
  return kNames[static_cast<int>(exchange)];
}

const char* Name(ExpertSends sends) {
  return sends == ExpertSends::kOncePerNode ? "once-per-node" : "every-copy";
}

namespace {

struct PartWord {
  std::string_view word;
  bool RecomputedParts::*part;
};
constexpr PartWord kPartWords[] = {{"norms", &RecomputedParts::norms},
                                   {"latents", &RecomputedParts::latents},
                                   {"activations", &RecomputedParts::activations}};

}  // namespace

std::string Name(const RecomputedParts& parts) {
  std::string names;
  for (const auto& [word, part] : kPartWords) {
    if (!(parts.*part)) continue;
    if (!names.empty()) names += ',';
    names += word;
  }
  return names.empty() ? "none" : names;
}

std::optional<RecomputedParts> FindRecomputedParts(std::string_view names) {
  RecomputedParts parts;
  if (names == "none") return parts;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    const auto found = std::find_if(std::begin(kPartWords), std::end(kPartWords),
                                    [&](const PartWord& known) { return known.word == name; });
    if (found == std::end(kPartWords)) return std::nullopt;
    parts.*(found->part) = true;
    begin = end + 1;
  }
  return parts;
}

const char* Name(Fp8Recipe recipe) {
  constexpr const char* kNames[] = {"delayed", "current", "mx", "rowwise", "block"};
  return kNames[static_cast<int>(recipe)];
}

CastWork CastOf(DType precision, Fp8Recipe recipe, int64_t elements) {
  if (!IsCast(precision)) return {};
  const Bytes read(2 * elements);
  const Bytes once = read + 2 * TensorBytes(precision, elements);
  if (precision == DType::kNvfp4) return {once + read, 2};
  switch (recipe) {
    case Fp8Recipe::kDelayed:
      return {once, 1};
    case Fp8Recipe::kCurrent:
      return {once + read, 2};
    case Fp8Recipe::kMx:
      return {once + Bytes(2 * DivideUp(elements, 32)), 1};  // a scale byte each way
    case Fp8Recipe::kRowwise:
      return {once + 3 * read, 4};
    case Fp8Recipe::kBlock:
      return {read + Bytes(2 * KeptIn8Bits(elements)), 1};
  }
  return {};
}

int64_t KeptIn8Bits(int64_t elements) {
  constexpr int64_t kScaleBytes = 4;
  return elements + kScaleBytes * DivideUp(elements, kBlock);
}

std::string FindGpuError(const StepOptions& options, const Device& device) {
  if (options.precision == DType::kFp8 && options.fp8_recipe == Fp8Recipe::kMx &&
      !HasBlockScaling(device.generation)) {
    return fmt::format("fp8_recipe: {} has no GEMMs of block-scaled 8-bit numbers", device.name);
  }
  if (!RunsOn(options.attention_kernel, device.generation)) {
    return fmt::format("attention_kernel: {} does not run on {}", Name(options.attention_kernel),
                       device.name);
  }
  if (device.Peak(options.precision).flop_per_s() <= 0) {
    return fmt::format("precision: {} has no {} arithmetic, want {}", device.name,
                       Name(options.precision), FormatsOf(device));
  }
  return "";
}

}  // namespace stagecraft
