// Packer and Unpacker: values as bytes, for other processes of the same program.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {

// Holds for T and const T, so that one function can pack and unpack a struct:
//   template <typename Bytes, Is<StageTime> Value>
//   void PassAlong(Bytes& bytes, Value& value) {
//     auto& [stage, time] = value;  // names every member, or does not compile
//     bytes(stage, time);
//   }
template <typename Value, typename T>
concept Is = std::is_same_v<std::remove_const_t<Value>, T>;

// Packs values that can be copied as bytes, texts, vectors and optionals of them, and structs for
// which there is a PassAlong().
class Packer {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      PassAlong(*this, value);
    }
  }
  void Put(const std::string& text) {
    Put(text.size());
    bytes_ += text;
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    Put(values.size());
    for (const T& value : values) Put(value);
  }
  template <typename T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }

  std::string bytes_;
};

// Reads values in the order in which they were packed.
class Unpacker {
 public:
  // The bytes must outlive it.
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  bool is_at_end() const { return left_.empty(); }

 private:
  std::string_view Take(size_t count) {
    CHECK(count <= left_.size());
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(&value, Take(sizeof value).data(), sizeof value);
    } else {
      PassAlong(*this, value);
    }
  }
  size_t GetSize() {
    size_t size = 0;
    Get(size);
    CHECK(size <= left_.size());  // every value has at least one byte
    return size;
  }
  void Get(std::string& text) { text = Take(GetSize()); }
  template <typename T>
  void Get(std::vector<T>& values) {
    values.resize(GetSize());
    for (T& value : values) Get(value);
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    bool has_value = false;
    Get(has_value);
    value.reset();
    if (has_value) Get(value.emplace());
  }

  std::string_view left_;
};

}  // namespace stagecraft
