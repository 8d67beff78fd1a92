// FNV-1a over 64 bits: fingerprints and hash keys that are equal everywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace stagecraft {

class Hash {
 public:
  Hash& Add(int64_t value) {
    uint64_t bits = static_cast<uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) {
      value_ = (value_ ^ (bits & 0xff)) * 1099511628211ull;
      bits >>= 8;
    }
    return *this;
  }
  Hash& Add(std::string_view text) {
    for (const char c : text) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
    return Add(static_cast<int64_t>(text.size()));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 1469598103934665603ull;
};

}  // namespace stagecraft
