// What a file is, told from its content, and whether it is sound.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/cluster/cluster.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What a plan is checked against; without both only its structure is.
struct CheckContext {
  std::optional<Workload> workload;
  std::optional<Cluster> cluster;
};

struct FileSummary {
  std::string kind;    // one of KindNames()
  std::string detail;  // "2 stages on 16 devices"
};

// Every kind of file that a command reads or writes: "plan", "Perfetto trace", ...
std::span<const std::string> KindNames();

// Structured files are recognised by their top-level keys, binary ones by what
// parses, traces and tables by their extension, what other tools print by its first
// words; then the reader that the commands use checks them whole. Throws InputError,
// opening with `path`, for a file that is unsound or none of ours.
FileSummary CheckFile(const std::string& path, const CheckContext& context);

}  // namespace stagecraft
