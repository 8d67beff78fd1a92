// Compresses and decompresses gzip files, in memory.
#pragma once

#include <string>
#include <string_view>

namespace stagecraft {

bool IsGzip(std::string_view bytes);

// Returns the uncompressed contents, all members of the file in order; at most 2 GiB. Throws an
// InputError that begins with `name` for bytes that are damaged or cut short.
std::string Gunzip(std::string_view bytes, const std::string& name);

// Returns the contents as a gzip file, always with the same bytes: it contains no name and no date.
std::string Gzip(std::string_view contents);

}  // namespace stagecraft
