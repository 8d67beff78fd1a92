// Names of networks in place of one that is not known.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Returns the end of a sentence: 'did you mean "a" or "b"?' with up to three known names that begin
// with `wanted` or differ from it in one letter, signs and letter case aside; numbers must be the
// same, for they say which network of a family it is. Else up to eight names of its family, those
// that begin with the same letters, or nothing of them; and where all names are listed.
std::string SimilarNetworks(const std::string& wanted, const std::vector<std::string>& known);

}  // namespace stagecraft
