// Devices and links from and to their wire form.
#pragma once

#include <string>

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "proto/device.pb.h"
#include "proto/link.pb.h"

namespace stagecraft {

// The training_clock of a device of which none is stated.
double UsualTrainingClock(Generation generation);

// Both check every field and throw InputError; past them a value is valid.
// `place` opens the sentence: "cluster.textproto: links[3].link".
Device DeviceFromProto(const DeviceProto& proto, const std::string& place);
Link LinkFromProto(const LinkProto& proto, const std::string& place);

DeviceProto ToProto(const Device& device);
LinkProto ToProto(const Link& link);

}  // namespace stagecraft
