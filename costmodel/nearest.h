// Suggests names in place of one that is not known.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Returns 'did you mean "a", "b" or "c"?' with up to three of the names nearest to `wanted` by edit
// distance, regardless of letter case; names that begin with `wanted` come first. At most a third
// of the letters of `wanted` may differ (but always two, or one if it has no more than four). If no
// name is as near, this returns 'want "a" or "b"' if there are few names, or else that none is
// similar. Empty if no name is known. The text ends the sentence of an InputError.
std::string NearestNames(const std::string& wanted, const std::vector<std::string>& known);

// Returns '; did you mean "a"?' where NearestNames() finds near names, else nothing. The text ends
// a sentence that lists all names.
std::string DidYouMean(const std::string& wanted, const std::vector<std::string>& known);

}  // namespace stagecraft
