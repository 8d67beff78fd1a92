// Reports how the step of one plan differs from that of another, part by part.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/report/explanation.h"

namespace stagecraft {

// Returns "B takes 120.0 ms (4.1 %) less than A: on the mean device 100.0 ms less warm-up, ...".
// The parts are those of the mean device's time, which add up to the step time.
std::string DescribeDifference(const Explanation& a, const Explanation& b);

// Returns the part of it that says what grew and shrank: "on the mean device 100.0 ms less warm-up;
// but 20.0 ms more drain"; empty if nothing did.
std::string DescribeParts(const Explanation& a, const Explanation& b);

// Returns the keys of `difference` in docs/json.md, `explain`: values of B minus those of A.
nlohmann::ordered_json DifferenceToJson(const Explanation& a, const Explanation& b);

// Prints both plans and a table with the parts of A and B side by side.
void PrintDifference(const Explanation& a, const Explanation& b, std::ostream& out);

}  // namespace stagecraft
