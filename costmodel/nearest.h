// Suggests names in place of one that is not known.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// 'did you mean "a", "b" or "c"?': up to three names nearest to `wanted` by edit distance,
// regardless of letter case, a name that begins with `wanted` first; empty if no name is known. For
// the end of the sentence of an InputError.
std::string NearestNames(const std::string& wanted, const std::vector<std::string>& known);

}  // namespace stagecraft
