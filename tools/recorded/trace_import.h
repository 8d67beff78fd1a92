// `import kineto`, `import nsys`, `import chakra`: makes a timeline, and samples for `fit`, of what
// profilers recorded.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "costmodel/device.h"
#include "tools/recorded/measured_timeline.h"
#include "tools/recorded/recording.h"
#include "tools/recorded/trace_format.h"
#include "tools/recorded/trace_samples.h"
#include "tools/verb/command.h"

namespace stagecraft {

struct TraceImport {
  TraceFormat format = TraceFormat::kKineto;
  Args files;
  CutOff cut_off = CutOff::kRefuse;
  std::string gpu, cluster;                      // as their flags say
  std::optional<bool> is_attention_causal = {};  // of calls that do not tell
  std::optional<DType> sample_format = {};       // of calls that do not tell
  bool wants_samples = false;                    // of kernels
  bool wants_collectives = false;
};

struct ImportedTrace {
  MeasuredTimeline timeline;
  TraceSamples samples;
  Args notes;  // all of them, sentences
};

// Reads the files and puts them together. Throws InputError.
ImportedTrace ImportTraces(const TraceImport& wish);

// Returns "812 kernels on 3 streams of 1 rank, step of 12.345 ms (median of 5)".
std::string Describe(const ImportedTrace& imported);

// Prints how many kernels of each class there are, and how long they take.
void PrintClasses(const TimelineRecord& record, std::ostream& out);
nlohmann::ordered_json ClassesToJson(const TimelineRecord& record);

}  // namespace stagecraft
