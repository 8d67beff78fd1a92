// Suggestions for a name that is not known.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// 'did you mean "a", "b" or "c"?': the up to three names nearest to `wanted` by
// edit distance, letter case aside, a name that begins with `wanted` first;
// empty where nothing is known. For the end of an InputError's sentence.
std::string NearestNames(const std::string& wanted, const std::vector<std::string>& known);

}  // namespace stagecraft
