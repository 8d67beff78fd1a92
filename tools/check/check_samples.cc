#include "tools/check/check_samples.h"

#include <fmt/core.h>

#include "costmodel/learned/samples/sample_problems.h"

namespace stagecraft {

std::string DescribeSamples(const SampleFile& file, const std::string& path) {
  std::string detail = SummariseSamples(file.samples);
  if (file.format != "samples") detail = file.format + ", " + detail;
  if (file.skipped > 0) {
    detail += fmt::format("; skipped {} rows that are not measurements", file.skipped);
  }
  for (const std::string& problem : FindSampleProblems(file.samples, path)) {
    detail += "\n  " + problem;
  }
  return detail;
}

}  // namespace stagecraft
