#include "tools/frameworks/shell_arithmetic.h"

#include <cctype>

#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr int kMostDepth = 64;  // of brackets

// A parser by recursive descent: sum = product {(+|-) product}, product = factor {(*|/|%) factor}.
class Arithmetic {
 public:
  Arithmetic(std::string_view text,
             const std::function<std::optional<int64_t>(std::string_view name)>& look_up)
      : rest_(text), look_up_(look_up) {}

  std::optional<int64_t> Run() {
    const std::optional<int64_t> value = Sum(0);
    SkipBlanks();
    return rest_.empty() ? value : std::nullopt;
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
      rest_.remove_prefix(1);
    }
  }

  // Removes and returns the next character if it is one of `wanted`, else returns 0.
  char Take(std::string_view wanted) {
    SkipBlanks();
    if (rest_.empty() || wanted.find(rest_[0]) == wanted.npos) return 0;
    const char taken = rest_[0];
    rest_.remove_prefix(1);
    return taken;
  }

  std::optional<int64_t> Sum(int depth) {
    std::optional<int64_t> sum = Product(depth);
    while (const char sign = Take("+-")) {
      const std::optional<int64_t> next = Product(depth);
      int64_t result = 0;
      if (!sum || !next ||
          (sign == '+' ? __builtin_add_overflow(*sum, *next, &result)
                       : __builtin_sub_overflow(*sum, *next, &result))) {
        return std::nullopt;
      }
      sum = result;
    }
    return sum;
  }

  std::optional<int64_t> Product(int depth) {
    std::optional<int64_t> product = Factor(depth);
    while (const char sign = Take("*/%")) {
      const std::optional<int64_t> next = Factor(depth);
      if (!product || !next) return std::nullopt;
      int64_t result = 0;
      if (sign == '*') {
        if (__builtin_mul_overflow(*product, *next, &result)) return std::nullopt;
      } else {
        if (*next == 0 || (*next == -1 && *product == INT64_MIN)) return std::nullopt;
        result = sign == '/' ? *product / *next : *product % *next;
      }
      product = result;
    }
    return product;
  }

  std::optional<int64_t> Factor(int depth) {
    if (depth > kMostDepth) return std::nullopt;
    if (Take("(") != 0) {
      const std::optional<int64_t> value = Sum(depth + 1);
      return Take(")") != 0 ? value : std::nullopt;
    }
    if (Take("-") != 0) {
      const std::optional<int64_t> value = Factor(depth + 1);
      if (!value || *value == INT64_MIN) return std::nullopt;
      return -*value;
    }
    const bool has_braces = Take("$") != 0 && Take("{") != 0;
    if (const std::optional<int64_t> number = TakeNumber<int64_t>(rest_)) return number;
    size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) || rest_[end] == '_')) {
      ++end;
    }
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (has_braces && Take("}") == 0) return std::nullopt;
    return name.empty() ? std::nullopt : look_up_(name);
  }

  std::string_view rest_;
  const std::function<std::optional<int64_t>(std::string_view name)>& look_up_;
};

}  // namespace

std::optional<int64_t> ShellArithmetic(
    std::string_view text,
    const std::function<std::optional<int64_t>(std::string_view name)>& look_up) {
  return Arithmetic(text, look_up).Run();
}

}  // namespace stagecraft
