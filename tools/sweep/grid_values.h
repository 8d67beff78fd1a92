// The values of one flag in a grid file, as they would be typed.
#pragma once

#include <google/protobuf/struct.pb.h>

#include <string>
#include <vector>

#include "tools/sweep/grid.h"

namespace stagecraft {

// Returns the text of one value. Throws InputError that begins with `place` for null, a list, a
// map, and for a value that is true or false exactly if the flag is no switch.
std::string GridValue(const google::protobuf::Value& value, const GridFlag& flag,
                      const std::string& place);

// Returns the texts of one value, a list or a range. Throws InputError also for an empty list, a
// value that occurs twice, and a range that never ends.
std::vector<std::string> GridValues(const google::protobuf::Value& value, const GridFlag& flag,
                                    const std::string& place);

}  // namespace stagecraft
