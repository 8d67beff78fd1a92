// The collectives to measure between the devices of one host.
#pragma once

#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "runtime/profile/profile_case.h"
#include "runtime/profile/profile_suite.h"

namespace stagecraft {

// The format in which collectives are measured; in other formats they take as long for the same
// bytes.
inline constexpr DType kCollectiveType = DType::kFp32;
inline constexpr std::string_view kNccl = "nccl";

struct CollectiveSuiteOptions {
  SuiteSize size = SuiteSize::kQuick;  // sizes grow by a factor of 4 if quick, of 2 if full
  std::vector<Fabric> groups;          // as communicators of the first 2, ... devices see it
  Fabric pair;                         // as a message between the first two devices sees it
  Bytes memory;  // free memory of each device; buffers take at most half of it
};

// Returns every collective and a ring of messages in every group, from 1 KiB to 1 GiB in the sizes
// of nccl-tests, such that the part of each rank is a whole number of packs of 16 bytes. The cases
// are distinct; their kernel is "nccl".
std::vector<ProfileCase> MakeCollectiveSuite(const CollectiveSuiteOptions& options);

}  // namespace stagecraft
