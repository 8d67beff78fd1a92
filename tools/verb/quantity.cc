#include "tools/verb/quantity.h"

#include <cmath>

#include "costmodel/text.h"

namespace stagecraft {
namespace {

// Returns the power of a thousand that a suffix stands for; 0 for none, and no value for a suffix
// that is unknown.
std::optional<int> PowerOf(std::string_view suffix) {
  if (suffix.empty()) return 0;
  if (suffix == "k" || suffix == "K") return 1;
  if (suffix == "M") return 2;
  if (suffix == "B" || suffix == "G") return 3;
  if (suffix == "T") return 4;
  return std::nullopt;
}

std::optional<double> Finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> ParseQuantity(std::string_view text, Thousand thousand) {
  const std::optional<double> number = TakeNumber<double>(text);
  if (!number) return std::nullopt;
  const bool is_binary = thousand == Thousand::kBinary || text.ends_with('i');
  if (text.ends_with('i')) {
    text.remove_suffix(1);
    if (text.empty() || text == "B") return std::nullopt;
  }
  const std::optional<int> power = PowerOf(text);
  if (!power) return std::nullopt;
  return Finite(*number * std::pow(is_binary ? 1024.0 : 1000.0, *power));
}

std::optional<double> ParseSeconds(std::string_view text) {
  const std::optional<double> number = TakeNumber<double>(text);
  if (!number) return std::nullopt;
  double unit = 0;
  if (text.empty() || text == "s") unit = 1;
  if (text == "ms") unit = 1e-3;
  if (text == "min") unit = 60;
  if (text == "h") unit = 3600;
  if (text == "d") unit = 86400;
  if (unit == 0) return std::nullopt;
  return Finite(*number * unit);
}

}  // namespace stagecraft
