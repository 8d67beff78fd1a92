// Hashes of numbers and texts, which have 64 bits and are equal on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stagecraft {

// FNV's offset basis without its last digit, from which every stored fingerprint was computed.
inline constexpr uint64_t kFnvOfNothing = 1469598103934665603ull;
inline constexpr uint64_t kFnvPrime = 1099511628211ull;

// Returns the FNV-1a hash of the bytes of `text` after data that have the hash `hash`.
constexpr uint64_t Fnv(std::string_view text, uint64_t hash = kFnvOfNothing) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

// Hash: the FNV-1a hash of everything that is added. For fingerprints, and for any other hash that
// an output may depend on.
class Hash {
 public:
  Hash& Add(int64_t value) {
    uint64_t bits = static_cast<uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) {
      value_ = (value_ ^ (bits & 0xff)) * kFnvPrime;
      bits >>= 8;
    }
    return *this;
  }
  Hash& Add(std::string_view text) {
    value_ = Fnv(text, value_);
    return Add(static_cast<int64_t>(text.size()));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = kFnvOfNothing;
};

// TableHash: a hash that takes eight bytes at a time. For the keys of large hash tables; no output
// shows its values.
class TableHash {
 public:
  TableHash& Add(int64_t value) {
    value_ = (value_ ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15ull;
    value_ ^= value_ >> 32;
    return *this;
  }
  size_t value() const { return value_; }

 private:
  uint64_t value_ = 0x2545f4914f6cdd1dull;
};

}  // namespace stagecraft
