// Measured collectives from files, for tests.
#pragma once

#include <string>

#include "costmodel/network/collective_table.h"
#include "costmodel/network/nccl_tests_log.h"
#include "costmodel/proto_file.h"

namespace stagecraft {

inline CollectiveTable ReadCollectiveTable(const std::string& path) {
  return ParseCollectiveTable(ReadFile(path), path);
}

inline NcclTestsLog ReadNcclTestsLog(const std::string& path) {
  return ParseNcclTestsLog(ReadFile(path), path);
}

}  // namespace stagecraft
