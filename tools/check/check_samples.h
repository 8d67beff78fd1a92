// Describes measured samples, with a line for each suspicious finding.
#pragma once

#include <string>

#include "costmodel/learned/samples/sample_file.h"

namespace stagecraft {

std::string DescribeSamples(const SampleFile& file, const std::string& path);

}  // namespace stagecraft
