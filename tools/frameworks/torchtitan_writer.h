// Writes job files of torchtitan, and launch scripts with its options.
#pragma once

#include "tools/frameworks/framework_writer.h"

namespace stagecraft {

// The TOML of releases before 2026, or with `is_script` a bash script with the same options.
LaunchText WriteTorchtitan(const LaunchJob& job, bool is_script);

}  // namespace stagecraft
