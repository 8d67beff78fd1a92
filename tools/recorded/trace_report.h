// Writes what `import` makes of traces, and reports it.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/recorded/trace_import.h"

namespace stagecraft {

// The files to write; those that are empty are not.
struct TraceOutputs {
  std::string timeline, samples, collectives;
};

struct TraceReport {
  TraceOutputs files;
  ImportedTrace imported;
};

// Imports traces and writes the files, after everything was read. Throws InputError for names of
// files with other endings than .pb and .csv, and as ImportTraces() does.
TraceReport WriteTraces(const TraceImport& wish, const TraceOutputs& files);

void PrintTraceReport(const TraceReport& report, std::ostream& out);
// Returns the keys of `import --json` after its header.
nlohmann::ordered_json TraceReportToJson(const TraceReport& report);

}  // namespace stagecraft
