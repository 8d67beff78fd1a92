// Helpers for text of other tools: reading it within limits, and quoting it in error messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// Returns the whole file. Throws InputError for an empty one and, before reading it, as
// CheckSourceSize().
std::string ReadSourceText(const std::string& path, int64_t most_bytes);
// Throws InputError for more than `most_bytes`, since no description of this kind is that large.
void CheckSourceSize(const std::string& path, uintmax_t bytes, int64_t most_bytes);

// Returns `text` in quotes, cut to a readable length, with '?' in place of special characters.
std::string Quoted(std::string_view text);

// Returns the lines without their ends ("\n" or "\r\n").
std::vector<std::string_view> SplitLines(std::string_view text);

// Returns how an error in a line begins, whose index is counted from 0: "topo.txt: line 3: ".
std::string AtLine(const std::string& name, size_t index);

// Returns the whole decimal number from `least` to `most` that `text` is; throws an InputError that
// begins with `place` for anything else.
int64_t ParseWhole(std::string_view text, int64_t least, int64_t most, const std::string& place);

}  // namespace stagecraft
