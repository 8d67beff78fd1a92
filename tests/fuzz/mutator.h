// Mutator: new inputs for a reader, made of old ones.
#pragma once

#include <span>
#include <string>

#include "costmodel/random.h"

namespace stagecraft::fuzz {

// One to four changes of one of `seeds` (at least one), each drawn with equal chance: bits
// flipped, bytes removed or repeated, lines removed, repeated or exchanged, numbers replaced
// by those that programs get wrong, words replaced by words of any seed, the end cut off. At
// most 64 KiB. The same generator gives the same bytes.
std::string Mutate(std::span<const std::string> seeds, Random random);

}  // namespace stagecraft::fuzz
