#include "tools/profile/profile_devices.h"

#include <charconv>
#include <string_view>

#include "costmodel/check.h"
#include "runtime/cuda/cuda_timer.h"

namespace stagecraft {
namespace {

// A kind of device: how one of them is opened. `place` opens every sentence.
struct DeviceKind {
  std::string_view name;
  std::unique_ptr<OpTimer> (*open)(int ordinal, const std::string& place);
};
constexpr DeviceKind kKinds[] = {{"cuda", MakeCudaOpTimer}};

[[noreturn]] void Refuse(const std::string& device) {
  throw InputError("--device: got \"" + device + "\", want cuda:N, the N-th GPU from 0");
}

}  // namespace

std::unique_ptr<OpTimer> MakeOpTimer(const std::string& device) {
  const size_t colon = device.find(':');
  const std::string_view kind = std::string_view(device).substr(0, colon);
  int ordinal = 0;
  if (colon != std::string::npos) {
    const char* const end = device.data() + device.size();
    const auto [rest, error] = std::from_chars(device.data() + colon + 1, end, ordinal);
    if (error != std::errc() || rest != end || ordinal < 0) Refuse(device);
  }
  for (const DeviceKind& known : kKinds) {
    if (known.name == kind) return known.open(ordinal, "--device");
  }
  Refuse(device);
}

}  // namespace stagecraft
