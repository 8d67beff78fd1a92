// GpuDatasheet: a GPU type in the units of its datasheet.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/missing_keys.h"
#include "proto/device.pb.h"

namespace stagecraft {

// Checks every field and throws an InputError in the datasheet's own units: "gpu.yaml:
// node_groups[0].inline_node_type.datasheet.bf16_tflops: got 9.89e+14, want from 0.001 to 100000
// TFLOP/s". What it returns is valid.
Device DeviceFromDatasheet(const GpuDatasheetProto& proto, const std::string& place);

// Returns the keys that a datasheet lacks and without which DeviceFromDatasheet() refuses it.
MissingKeys MissingIn(const GpuDatasheetProto& proto);

// Returns the datasheet of a device; the values that no datasheet has are left out.
GpuDatasheetProto DatasheetOf(const Device& device);

}  // namespace stagecraft
