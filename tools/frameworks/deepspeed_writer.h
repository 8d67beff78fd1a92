// Writes DeepSpeed's configuration.
#pragma once

#include "tools/frameworks/framework_writer.h"

namespace stagecraft {

// A JSON file; the notes say what belongs into the Python code.
LaunchText WriteDeepspeed(const LaunchJob& job);

}  // namespace stagecraft
