// What to measure between the devices of one host.
#pragma once

#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "runtime/profile/profile_case.h"
#include "runtime/profile/profile_suite.h"

namespace stagecraft {

// The numbers that collectives are measured on; others take as long a byte.
inline constexpr DType kCollectiveType = DType::kFp32;
inline constexpr std::string_view kNccl = "nccl";

struct CollectiveSuiteOptions {
  SuiteSize size = SuiteSize::kQuick;  // sizes 4 times, or twice, as large as the last
  std::vector<Fabric> groups;          // what communicators of the first 2, ... devices see
  Fabric pair;                         // what a message between the first two sees
  Bytes memory;                        // free on each device; buffers take half of it at most
};

// Each collective and a ring of messages from 1 KiB to 1 GiB in every group, as nccl-tests counts
// their sizes: parts of a rank are whole packs of 16 bytes. Distinct cases, kernel "nccl".
std::vector<ProfileCase> MakeCollectiveSuite(const CollectiveSuiteOptions& options);

}  // namespace stagecraft
