// Compresses and decompresses gzip files, in memory.
#pragma once

#include <string>
#include <string_view>

namespace stagecraft {

bool IsGzip(std::string_view bytes);

// What was compressed, all members of the file in order; at most 2 GiB. Throws an InputError that
// begins with `name` for bytes that are damaged or cut short.
std::string Gunzip(std::string_view bytes, const std::string& name);

// Gives the same bytes every time: there is no name and no date inside.
std::string Gzip(std::string_view contents);

}  // namespace stagecraft
