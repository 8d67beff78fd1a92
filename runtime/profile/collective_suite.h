// What to measure between the devices of one host.
#pragma once

#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "runtime/profile/profile_case.h"
#include "runtime/profile/profile_suite.h"

namespace stagecraft {

// The format in which collectives are measured; others take as long for each byte.
inline constexpr DType kCollectiveType = DType::kFp32;
inline constexpr std::string_view kNccl = "nccl";

struct CollectiveSuiteOptions {
  SuiteSize size = SuiteSize::kQuick;  // each size is 4 times, or twice, the one before
  std::vector<Fabric> groups;          // seen by communicators of the first 2, ... devices
  Fabric pair;                         // seen by a message between the first two
  Bytes memory;                        // free on each device; buffers take at most half of it
};

// Each collective, and a ring of messages, from 1 KiB to 1 GiB in every group, with sizes as
// nccl-tests counts them: parts of a rank are whole packs of 16 bytes. The cases are distinct;
// their kernel is "nccl".
std::vector<ProfileCase> MakeCollectiveSuite(const CollectiveSuiteOptions& options);

}  // namespace stagecraft
