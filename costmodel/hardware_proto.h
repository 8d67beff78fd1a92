// Converts devices and links from and to their protos.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "costmodel/missing_keys.h"
#include "proto/device.pb.h"
#include "proto/link.pb.h"

namespace stagecraft {

// Both check every field and throw InputError; what they return is valid. `place` opens the
// sentence: "cluster.textproto: links[3].link".
Device DeviceFromProto(const DeviceProto& proto, const std::string& place);
Link LinkFromProto(const LinkProto& proto, const std::string& place);

// Return the keys that a device or a link lacks and without which the functions above refuse it.
MissingKeys MissingIn(const DeviceProto& proto);
MissingKeys MissingIn(const LinkProto& proto);

DeviceProto ToProto(const Device& device);
LinkProto ToProto(const Link& link);

}  // namespace stagecraft
