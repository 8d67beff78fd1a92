#include "tools/frameworks/pipeline_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/workload/limits.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr int kMostDepth = 16;
constexpr size_t kMostSymbols = 4 * kMostLayers;

// Writes a layout out, without repetitions: "EtttIttI..." with '|' between parts.
class LayoutExpansion {
 public:
  LayoutExpansion(std::string_view text, const std::string& place)
      : text_(text), rest_(text), place_(place) {}

  std::string Run() {
    std::string symbols = Sequence(0);
    if (!rest_.empty()) Fail("a ( for every )");
    return symbols;
  }

 private:
  [[noreturn]] void Fail(const std::string& wanted) const {
    throw InputError(fmt::format("{}: got {}, want {}", place_, Quoted(text_), wanted));
  }

  std::string Sequence(int depth) {
    if (depth > kMostDepth) Fail("fewer groups in each other");
    std::string symbols;
    while (!rest_.empty() && rest_[0] != ')') {
      const char first = rest_[0];
      rest_.remove_prefix(1);
      if (first == ',' || first == ' ' || first == '\t' || first == '\n') continue;
      std::string piece(1, first);
      if (first == '(') {
        piece = Sequence(depth + 1);
        if (rest_.empty()) Fail("a ) for every (");
        rest_.remove_prefix(1);
      } else if (std::string_view("EtmL|").find(first) == std::string_view::npos) {
        Fail("E, t, m, L, |, *n and groups in brackets");
      }
      Append(symbols, piece);
    }
    return symbols;
  }

  void Append(std::string& symbols, const std::string& piece) {
    int64_t times = 1;
    if (!rest_.empty() && rest_[0] == '*') {
      rest_.remove_prefix(1);
      const std::optional<int64_t> number = TakeNumber<int64_t>(rest_);
      if (!number || *number < 0 || *number > kMostLayers) Fail("a number after *");
      times = *number;
    }
    if (symbols.size() + piece.size() * static_cast<size_t>(times) > kMostSymbols) {
      Fail(fmt::format("at most {} layers", kMostLayers));
    }
    for (int64_t i = 0; i < times; ++i) symbols += piece;
  }

  std::string_view text_, rest_;
  const std::string& place_;
};

std::string Repeated(char symbol, int times) {
  if (times == 0) return "";
  if (times <= 2) return std::string(times, symbol);
  return fmt::format("{}*{}", symbol, times);
}

}  // namespace

std::vector<int> ReadPipelineLayout(std::string_view text, const std::string& place, int blocks,
                                    int prediction_layers) {
  const std::string symbols = LayoutExpansion(text, place).Run();
  std::string layers = symbols;
  layers.erase(std::remove(layers.begin(), layers.end(), '|'), layers.end());
  const auto count = [&](char symbol) { return std::count(layers.begin(), layers.end(), symbol); };
  if (count('t') != blocks || count('m') != prediction_layers) {
    throw InputError(fmt::format(
        "{}: got {} with {} t and {} m, want the {} layers and {} that predict further tokens",
        place, Quoted(text), count('t'), count('m'), blocks, prediction_layers));
  }
  const std::string wanted =
      "E" + std::string(blocks, 't') + std::string(prediction_layers, 'm') + "L";
  if (layers != wanted) {
    throw InputError(fmt::format("{}: got {}, want one E first, then t, then m, and one L last",
                                 place, Quoted(text)));
  }
  std::vector<int> counts;
  for (const std::string_view part : SplitAt(std::string_view(symbols), '|')) {
    counts.push_back(static_cast<int>(part.size()));
  }
  return counts;
}

std::string PipelineLayoutText(const std::vector<int>& part_layers, int blocks,
                               int prediction_layers) {
  std::vector<std::string> parts;
  int layer = 0;
  for (const int count : part_layers) {
    const auto inside = [&](int first, int end) {
      return std::max(0, std::min(layer + count, end) - std::max(layer, first));
    };
    const int predicting = blocks + 1;
    const int head = predicting + prediction_layers;
    parts.push_back(Repeated('E', inside(0, 1)) + Repeated('t', inside(1, predicting)) +
                    Repeated('m', inside(predicting, head)) +
                    Repeated('L', inside(head, head + 1)));
    layer += count;
  }
  CHECK(layer == blocks + prediction_layers + 2);
  std::string text;
  for (size_t i = 0; i + 1 < parts.size();) {
    size_t end = i + 1;
    while (end + 1 < parts.size() && parts[end] == parts[i]) ++end;
    if (end - i > 1) {
      text += fmt::format("({}|)*{},", parts[i], end - i);
    } else {
      text += parts[i] + "|";
    }
    i = end;
  }
  return text + parts.back();
}

}  // namespace stagecraft
