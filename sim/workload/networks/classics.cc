#include "sim/workload/networks/classics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/workload/networks/classics_networks.h"

namespace stagecraft {
namespace {

constexpr ResNetConfig kResNet18 = {.blocks = {2, 2, 2, 2}};
constexpr ResNetConfig kResNet18Cifar = {.blocks = {2, 2, 2, 2}, .is_cifar = true};
constexpr ResNetConfig kResNet50 = {.blocks = {3, 4, 6, 3}, .has_bottlenecks = true};
constexpr ResNetConfig kResNet101 = {.blocks = {3, 4, 23, 3}, .has_bottlenecks = true};
constexpr TransformerXlConfig kTransformerXlBase = {16, 512, 8, 192, 1};
constexpr TransformerXlConfig kTransformerXlLarge = {18, 1024, 16, 384, 4};
constexpr int64_t kCocoClasses = 80;  // without a background
constexpr int64_t kVocClasses = 20;
// The mean utterance of the paper's English corpus: 11,940 hours are 8 million utterances, 5.37 s.
constexpr int64_t kUtteranceFrames = 537;
constexpr int64_t kLargest = 4096;

// What a network is built from, besides its name.
struct Choices {
  int64_t size = 0;
  AttentionBackend attention = AttentionBackend::kFlash;
};

struct Classic {
  std::string_view name;
  int64_t size;          // of the published input; 0: it has the plan's sequence
  int64_t smallest = 0;  // size below which a window would not fit
  int64_t multiple = 1;  // of which sizes are multiples, as the network halves them
  Workload (*build)(const std::string& name, const Choices& choices);
  std::string_view unit = "pixels on each side";
};

// Sorted by name.
constexpr std::array kClassics = std::to_array<Classic>({
    {"alexnet", 224, 63, 1,
     [](const std::string& n, const Choices& c) { return BuildAlexNet(n, c.size); }},
    {"amoebanet-d", 224, 32, 32,
     [](const std::string& n, const Choices& c) {
       return BuildAmoebaNetD(n, AmoebaNetConfig(), c.size);
     }},
    {"deepspeech2", kUtteranceFrames, 1, 1,
     [](const std::string& n, const Choices& c) { return BuildDeepSpeech2(n, {}, c.size); },
     "frames of 10 ms"},
    {"gnmt-16", 0, 0, 1,
     [](const std::string& n, const Choices&) { return BuildGnmt(n, 8, true); }},
    {"gnmt-8", 0, 0, 1, [](const std::string& n, const Choices&) { return BuildGnmt(n, 4, true); }},
    {"inception-v3", 299, 75, 1,
     [](const std::string& n, const Choices& c) { return BuildInceptionV3(n, c.size); }},
    {"resnet101", 224, 32, 1,
     [](const std::string& n, const Choices& c) { return BuildResNet(n, kResNet101, c.size); }},
    {"resnet18", 224, 32, 1,
     [](const std::string& n, const Choices& c) { return BuildResNet(n, kResNet18, c.size); }},
    {"resnet18-cifar", 32, 8, 1,
     [](const std::string& n, const Choices& c) { return BuildResNet(n, kResNet18Cifar, c.size); }},
    {"resnet50", 224, 32, 1,
     [](const std::string& n, const Choices& c) { return BuildResNet(n, kResNet50, c.size); }},
    // The boxes of the last, unpadded maps need this very size.
    {"ssd300", 300, 300, 300,
     [](const std::string& n, const Choices& c) { return BuildSsd300(n, c.size); }},
    {"transformer-base", 0, 0, 1,
     [](const std::string& n,
        const Choices& c) { return BuildTranslationTransformer(n, 512, 8, c.attention); }},
    {"transformer-big", 0, 0, 1,
     [](const std::string& n,
        const Choices& c) { return BuildTranslationTransformer(n, 1024, 16, c.attention); }},
    {"transformer-xl-base", 0, 0, 1,
     [](const std::string& n,
        const Choices&) { return BuildTransformerXl(n, kTransformerXlBase); }},
    {"transformer-xl-large", 0, 0, 1,
     [](const std::string& n,
        const Choices&) { return BuildTransformerXl(n, kTransformerXlLarge); }},
    {"unet", 192, 32, 32,
     [](const std::string& n, const Choices& c) { return BuildUNet(n, UNetConfig(), c.size); }},
    {"vgg16", 224, 32, 1,
     [](const std::string& n, const Choices& c) { return BuildVgg16(n, c.size); }},
    {"yolov3", 416, 32, 32,
     [](const std::string& n, const Choices& c) { return BuildYoloV3(n, kCocoClasses, c.size); }},
    {"yolov3-voc", 416, 32, 32,
     [](const std::string& n, const Choices& c) { return BuildYoloV3(n, kVocClasses, c.size); }},
});

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

int64_t ParseSize(const Classic& classic, std::string_view text, const std::string& name) {
  if (classic.size == 0) {
    throw InputError(
        fmt::format("workload: got '{}', want '{}': the plan's sequence is the size "
                    "of its input",
                    name, classic.name));
  }
  const std::optional<int64_t> size = ParseNumber<int64_t>(text);
  if (!size || *size < classic.smallest || *size > kLargest || *size % classic.multiple != 0) {
    throw InputError(fmt::format(
        "workload: got '{}', want '{}@SIZE' with {} to {} {}{}", name, classic.name,
        classic.smallest, kLargest, classic.unit,
        classic.multiple > 1 ? fmt::format(", a multiple of {}", classic.multiple) : ""));
  }
  return *size;
}

}  // namespace

std::optional<Workload> BuildClassic(const std::string& name, AttentionBackend attention) {
  const std::string lower = Lower(name);
  const size_t at = lower.find('@');
  const std::string base = lower.substr(0, at);
  const auto classic = std::find_if(kClassics.begin(), kClassics.end(),
                                    [&](const Classic& c) { return c.name == base; });
  if (classic == kClassics.end()) return std::nullopt;
  Choices choices{classic->size, attention};
  if (at != std::string::npos) {
    choices.size = ParseSize(*classic, std::string_view(lower).substr(at + 1), name);
  }
  return classic->build(lower, choices);
}

std::vector<std::string> ClassicNames() {
  std::vector<std::string> names;
  for (const Classic& classic : kClassics) names.emplace_back(classic.name);
  return names;
}

}  // namespace stagecraft
