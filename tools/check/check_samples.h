// Describes measured samples.
#pragma once

#include <string>

#include "costmodel/learned/samples/sample_file.h"

namespace stagecraft {

// Returns a summary of the samples, followed by a line for each suspicious finding.
std::string DescribeSamples(const SampleFile& file, const std::string& path);

}  // namespace stagecraft
