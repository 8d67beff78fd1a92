// Mutator: makes new inputs for a reader from old ones.
#pragma once

#include <span>
#include <string>

#include "costmodel/random.h"

namespace stagecraft::fuzz {

// Returns one of `seeds`, of which there must be at least one, with one to four random changes:
// bits flipped, bytes inserted, removed or repeated, lines removed, repeated or exchanged, numbers
// replaced by ones that programs often get wrong, words replaced by words of any seed, or the end
// cut off. Makes at most 64 KiB. The same generator gives the same bytes.
std::string Mutate(std::span<const std::string> seeds, Random random);

}  // namespace stagecraft::fuzz
