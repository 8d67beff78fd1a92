// Determines what a file is from its content, and whether it is sound.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/cluster/cluster.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What a plan is checked against; unless both are given only its structure is checked.
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

// Structured files are recognised by their top-level keys, binary ones by which message they parse
// as, traces and tables by their extension, the output of other tools by its first words; then the
// reader that the commands use checks the whole file. Throws an InputError that begins with `path`
// for a file that is unsound or of no known kind.
FileSummary CheckFile(const std::string& path, const CheckContext& context);

}  // namespace stagecraft
