// Units as types: a number never travels without its unit.
//
// Times are whole nanoseconds and sizes whole bytes, so sums are exact and equal on every machine.
// Only Duration::Seconds(), RoundedNanoseconds() and the quotients below round. GB is 10^9 bytes,
// GiB is 2^30.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace stagecraft {

// A span of time, in whole nanoseconds. A value that would lie beyond Max() or Min(), 292 years
// either way, becomes that limit: sums, differences and products never wrap around, whatever their
// operands. A result at a limit means that the time is not known; results that users see are at
// most kLongestTime.
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration Nanoseconds(int64_t ns) { return Duration(ns); }
  // Both round to the nearest nanosecond and turn NaN into Max().
  static Duration Seconds(double seconds) { return RoundedNanoseconds(seconds * 1e9); }
  static Duration RoundedNanoseconds(double ns) {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63, the first that does not fit
    if (!(ns < kBeyond)) return Max();
    return ns > -kBeyond ? Duration(std::llround(ns)) : Min();
  }
  static constexpr Duration Max() { return Duration(std::numeric_limits<int64_t>::max()); }
  static constexpr Duration Min() { return Duration(std::numeric_limits<int64_t>::min()); }
  constexpr int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }
  constexpr double ms() const { return static_cast<double>(ns_) * 1e-6; }
  constexpr double us() const { return static_cast<double>(ns_) * 1e-3; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) {
    Duration sum;
    if (!__builtin_add_overflow(a.ns_, b.ns_, &sum.ns_)) [[likely]]
      return sum;
    return b.ns_ > 0 ? Max() : Min();
  }
  friend constexpr Duration operator-(Duration a, Duration b) {
    Duration difference;
    if (!__builtin_sub_overflow(a.ns_, b.ns_, &difference.ns_)) [[likely]]
      return difference;
    return b.ns_ < 0 ? Max() : Min();
  }
  friend constexpr Duration operator*(int64_t n, Duration d) {
    Duration product;
    if (!__builtin_mul_overflow(n, d.ns_, &product.ns_)) [[likely]]
      return product;
    return (n > 0) == (d.ns_ > 0) ? Max() : Min();
  }
  constexpr Duration& operator+=(Duration d) { return *this = *this + d; }
  constexpr Duration& operator-=(Duration d) { return *this = *this - d; }

 private:
  explicit constexpr Duration(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

// 100 years, far below the limit of a Duration. Longer times are refused by readers of files, by
// the binding of costs to a training step and by everything that shows results.
inline constexpr Duration kLongestTime = Duration::Nanoseconds(3'155'760'000'000'000'000);

// A size or an amount of traffic, in whole bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(int64_t count) : count_(count) {}
  constexpr int64_t count() const { return count_; }
  constexpr double gib() const { return static_cast<double>(count_) / (1024.0 * 1024.0 * 1024.0); }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  friend constexpr Bytes operator*(int64_t n, Bytes b) { return Bytes(n * b.count_); }
  constexpr Bytes& operator+=(Bytes b) {
    count_ += b.count_;
    return *this;
  }

 private:
  int64_t count_ = 0;
};

// Floating-point operations. A double, because a training step of a large network has more than
// 2^63 of them. One multiply-add counts as two.
class FlopCount {
 public:
  constexpr FlopCount() = default;
  explicit constexpr FlopCount(double count) : count_(count) {}
  constexpr double count() const { return count_; }
  friend constexpr auto operator<=>(FlopCount, FlopCount) = default;
  friend constexpr FlopCount operator+(FlopCount a, FlopCount b) {
    return FlopCount(a.count_ + b.count_);
  }
  friend constexpr FlopCount operator*(double n, FlopCount f) { return FlopCount(n * f.count_); }
  constexpr FlopCount& operator+=(FlopCount f) {
    count_ += f.count_;
    return *this;
  }

 private:
  double count_ = 0;
};

// Bytes per second, one direction.
class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  explicit constexpr Bandwidth(double bytes_per_s) : value_(bytes_per_s) {}
  constexpr double bytes_per_s() const { return value_; }
  friend constexpr auto operator<=>(Bandwidth, Bandwidth) = default;
  friend constexpr Bandwidth operator*(double n, Bandwidth b) { return Bandwidth(n * b.value_); }

 private:
  double value_ = 0;
};

// Floating-point operations per second.
class FlopRate {
 public:
  constexpr FlopRate() = default;
  explicit constexpr FlopRate(double flop_per_s) : value_(flop_per_s) {}
  constexpr double flop_per_s() const { return value_; }
  friend constexpr auto operator<=>(FlopRate, FlopRate) = default;
  friend constexpr FlopRate operator*(double n, FlopRate r) { return FlopRate(n * r.value_); }

 private:
  double value_ = 0;
};

inline Duration operator/(Bytes bytes, Bandwidth bandwidth) {
  return Duration::Seconds(static_cast<double>(bytes.count()) / bandwidth.bytes_per_s());
}
inline Duration operator/(FlopCount flops, FlopRate rate) {
  return Duration::Seconds(flops.count() / rate.flop_per_s());
}

inline namespace literals {
constexpr Duration operator""_ns(unsigned long long n) {
  return Duration::Nanoseconds(static_cast<int64_t>(n));
}
constexpr Duration operator""_us(unsigned long long n) {
  return Duration::Nanoseconds(static_cast<int64_t>(n) * 1000);
}
constexpr Duration operator""_ms(unsigned long long n) {
  return Duration::Nanoseconds(static_cast<int64_t>(n) * 1000000);
}
}  // namespace literals

}  // namespace stagecraft
