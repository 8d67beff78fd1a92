#include "tools/import/gpu_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"

namespace stagecraft {
namespace {

constexpr std::string_view kForms[] = {"sxm", "pcie", "nvl"};
constexpr size_t kMostWordsOfAName = 3;  // as in "RTX 2080 Ti", which is rtx2080ti

using Words = std::vector<std::string>;

// The words of a text in lower case; all characters but letters and digits separate words.
Words WordsOf(const std::string& text) {
  Words words;
  bool is_inside = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_word = std::isalnum(byte) != 0;
    if (is_word && !is_inside) words.emplace_back();
    if (is_word) words.back() += static_cast<char>(std::tolower(byte));
    is_inside = is_word;
  }
  return words;
}

// The model in an id of the catalogue: "a100" for "a100-sxm4-40gb".
std::string Model(const std::string& gpu) { return gpu.substr(0, gpu.find('-')); }

bool IsInCatalogue(const std::string& model) {
  const auto& entries = DeviceCatalogue::Embedded().entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const DeviceEntry& entry) { return Model(entry.device.id) == model; });
}

// The longest model of the catalogue that consecutive words make; empty if there is none.
std::string ModelIn(const Words& words) {
  std::string longest;
  for (size_t begin = 0; begin < words.size(); ++begin) {
    std::string model;
    for (size_t i = begin; i < std::min(words.size(), begin + kMostWordsOfAName); ++i) {
      model += words[i];
      if (model.size() > longest.size() && IsInCatalogue(model)) longest = model;
    }
  }
  return longest;
}

std::string_view FormIn(const Words& words) {
  for (const std::string& word : words) {
    for (const std::string_view form : kForms) {
      if (word.starts_with(form)) return form;
    }
  }
  return "";
}

}  // namespace

bool IsAnotherGpu(const std::string& printed, const std::string& gpu) {
  const Words words = WordsOf(printed);
  const std::string model = ModelIn(words);
  if (model.empty()) return false;
  const std::string_view form = FormIn(words);
  const Words own = WordsOf(gpu);
  const std::string_view own_form = FormIn(own);
  return model != Model(gpu) || (!form.empty() && !own_form.empty() && form != own_form);
}

void RequireGpu(const std::string& place, const Device& device, const std::string& printed,
                int multiprocessors) {
  const DeviceEntry* const there = DeviceCatalogue::Embedded().Find(printed);
  if (there != nullptr && there->device.id == device.id) return;
  if (IsInCatalogue(Model(device.id)) && IsAnotherGpu(printed, device.id)) {
    throw InputError(fmt::format("{}: got the GPU {}, want the {} that is installed", place,
                                 device.id, printed));
  }
  if (multiprocessors == 0 || device.multiprocessors == 0) return;
  if (multiprocessors == device.multiprocessors) return;
  throw InputError(
      fmt::format("{}: got the GPU {} with {} SMs, want the {} with {} that is "
                  "installed",
                  place, device.id, device.multiprocessors, printed, multiprocessors));
}

}  // namespace stagecraft
