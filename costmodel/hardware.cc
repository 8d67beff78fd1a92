#include "costmodel/device.h"
#include "costmodel/link.h"

namespace stagecraft {

const char* Name(DType dtype) {
  constexpr const char* kNames[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "nvfp4"};
  return kNames[static_cast<int>(dtype)];
}

const char* Name(Generation generation) {
  constexpr const char* kNames[] = {"pascal", "volta",  "ampere", "hopper", "blackwell",
                                    "kepler", "turing", "ada",    "cdna2",  "cdna3",
                                    "cdna4",  "gaudi",  "host"};
  return kNames[static_cast<int>(generation)];
}

const char* Name(MemoryKind kind) { return kind == MemoryKind::kGddr ? "gddr" : "hbm"; }

bool HasLargeWorkspace(Generation generation) {
  return generation == Generation::kHopper || generation == Generation::kBlackwell;
}

bool HasBlockScaling(Generation generation) {
  return generation == Generation::kBlackwell || generation == Generation::kCdna4;
}

const char* Name(LinkKind kind) {
  constexpr const char* kNames[] = {"nvlink", "pcie", "network", "host"};
  return kNames[static_cast<int>(kind)];
}

Device AsSampled(Device device) {
  device.clock_share = 1;
  device.is_busy = false;
  device.host_dispatch.reset();
  return device;
}

}  // namespace stagecraft
