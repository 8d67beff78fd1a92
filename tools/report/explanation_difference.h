// What changes from one plan to another, and where the time goes.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/report/explanation.h"

namespace stagecraft {

// "B takes 120.0 ms (4.1 %) less than A: a device waits ... less, ...". Of the mean
// device's time, whose parts add up to the step.
std::string DescribeDifference(const Explanation& a, const Explanation& b);

// The keys of docs/json.md, explain, `difference`: the second minus the first.
nlohmann::ordered_json DifferenceToJson(const Explanation& a, const Explanation& b);

// Side by side, part by part.
void PrintDifference(const Explanation& a, const Explanation& b, std::ostream& out);

}  // namespace stagecraft
