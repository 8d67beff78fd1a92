// SampleWarnings: what makes measured samples worse than they look.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"

namespace stagecraft {

// Samples whose repeats differ by more than this (sigma of log(time)) were disturbed.
inline constexpr double kWideSpread = 0.2;

// Returns a sentence, which begins with `what` and a colon, about samples whose repeats differ
// much, and one about each GPU type of which samples of several versions of one software are mixed.
std::vector<std::string> SampleWarnings(const std::string& what, std::span<const Sample> samples);

}  // namespace stagecraft
