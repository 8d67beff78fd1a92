// `import nccl-tests`: puts logs together into one table of collectives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "costmodel/op.h"
#include "tools/verb/command.h"

namespace stagecraft {

inline constexpr int64_t kMostNcclTestsLogBytes = 64 << 20;

struct NetworkImport {
  Args logs;
  std::string cluster;         // as --cluster takes it
  std::optional<OpKind> kind;  // of all logs; no value: each log states its own
};

struct ImportedCollectives {
  std::string table;        // the text of a .csv file
  std::string description;  // "132 times on 8 to 32 ranks of azure-nd96asr-v4:4"
  Args notes;               // sentences
};

// The hosts of each log are the cluster's first nodes. If several logs have the same point, those
// after the first are repeats. `out` is the file for which the table is made. Throws an InputError
// that names the log or the flag.
ImportedCollectives ImportNcclTests(const NetworkImport& source, const std::string& out);

// Returns the words that --collective takes.
Args CollectiveWords();

}  // namespace stagecraft
