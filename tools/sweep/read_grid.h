// Reads a grid file and makes its points.
#pragma once

#include <string>

#include "proto/grid.pb.h"
#include "tools/sweep/grid.h"

namespace stagecraft {

// Throws InputError for a file that is missing or malformed, and as Grid::FromProto() does.
Grid ReadGrid(const std::string& path);

// Returns the grid of a message with the flags that its verb has; `name` opens every error.
Grid GridFrom(const GridProto& proto, const std::string& name);

// Returns "48 points of simulate: 4 tp x 3 pp x 4 micro-batch", for people.
std::string DescribeGrid(const Grid& grid);

}  // namespace stagecraft
