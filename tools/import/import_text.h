// Text of other tools: read within limits, and quoted in sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// The whole file. Throws InputError, before reading, for one larger than `most_bytes`, since no
// description of this kind is.
std::string ReadSourceText(const std::string& path, int64_t most_bytes);
void CheckSourceSize(const std::string& path, uintmax_t bytes, int64_t most_bytes);

// `text` in quotes, cut to a readable length.
std::string Quoted(std::string_view text);

// Lines without their ends ("\n" or "\r\n").
std::vector<std::string_view> SplitLines(std::string_view text);

// "topo.txt: line 3: "
std::string AtLine(const std::string& name, size_t index);

// A whole decimal number from `least` to `most`; throws an InputError, which `place` opens.
int64_t ParseWhole(std::string_view text, int64_t least, int64_t most, const std::string& place);

}  // namespace stagecraft
