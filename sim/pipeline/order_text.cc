#include "sim/pipeline/order_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr std::string_view kLetters = "FBIW";  // by Phase
constexpr std::string_view kBlanks = " \t\r\n";

// Reads the number with which `text` begins and removes it; returns false if there is none from 0
// on.
template <typename Integer>
bool Take(std::string_view& text, Integer& value) {
  const std::optional<Integer> number = TakeNumber<Integer>(text);
  value = number.value_or(-1);
  return value >= 0;
}

bool ReadPass(std::string_view word, Pass& pass) {
  if (!word.empty() && word[0] >= '0' && word[0] <= '9' && !Take(word, pass.chunk)) {
    return false;
  }
  const size_t phase = word.empty() ? std::string_view::npos : kLetters.find(word[0]);
  if (phase == std::string_view::npos) return false;
  pass.phase = static_cast<Phase>(phase);
  word.remove_prefix(1);
  return Take(word, pass.micro_batch) && word.empty();
}

}  // namespace

std::string OrderToText(const PassOrder& order) {
  std::string text;
  for (const Pass& pass : order) {
    if (pass.chunk > 0) text += std::to_string(pass.chunk);
    text += kLetters[static_cast<size_t>(pass.phase)];
    text += std::to_string(pass.micro_batch);
    text += pass.beside_next ? '+' : ' ';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

PassOrder OrderFromText(std::string_view text, const std::string& where) {
  PassOrder order;
  for (size_t at = 0; at < text.size();) {
    at = text.find_first_not_of(kBlanks, at);
    if (at == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_of(" \t\r\n+", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    Pass pass;
    if (!ReadPass(word, pass)) {
      throw InputError(
          fmt::format("{}: got \"{}\", want passes like F0, B0, I0, W0 or, of chunk "
                      "1, 1F0",
                      where, word.substr(0, 40)));
    }
    pass.beside_next = end < text.size() && text[end] == '+';
    order.push_back(pass);
    at = end + (pass.beside_next ? 1 : 0);
  }
  if (!order.empty() && order.back().beside_next) {
    throw InputError(where + ": got \"+\" at the end, want a pass after it");
  }
  return order;
}

}  // namespace stagecraft
