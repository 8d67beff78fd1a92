#include "tools/verb/print_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

std::string Printed(const nlohmann::ordered_json& value) {
  std::ostringstream out;
  PrintJson(value, out);
  return out.str();
}

TEST(PrintJsonTest, RoundingErrorsOfArithmeticAreNotPrinted) {
  EXPECT_EQ(Printed({{"a", 996185227 * 1e-6}}), "{\n  \"a\": 996.185227\n}\n");
  EXPECT_EQ(Printed(0.1 + 0.2), "0.3\n");
  EXPECT_EQ(
      Printed({1.0 / 3, -2e-300, 4.5e11, int64_t{1} << 62, -0.0}),
      "[\n  0.333333333333,\n  -2e-300,\n  450000000000.0,\n  4611686018427387904,\n  -0.0\n]\n");
  EXPECT_EQ(Printed({std::numeric_limits<double>::infinity(), nullptr, "caf\xe9"}),
            "[\n  null,\n  null,\n  \"caf\xef\xbf\xbd\"\n]\n");
}

// A time of whole nanoseconds has as many digits in milliseconds as in nanoseconds.
TEST(PrintJsonTest, NanosecondsAsMillisecondsArePrintedExactly) {
  Random random(14);
  for (int i = 0; i < 10'000; ++i) {
    const int64_t ns = random.Integer(1'000'000, 999'999'999'999);
    std::string digits = std::to_string(ns);
    digits.insert(digits.size() - 6, ".");
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits += '0';
    EXPECT_EQ(Printed(static_cast<double>(ns) * 1e-6), digits + "\n");
  }
}

}  // namespace
}  // namespace stagecraft
