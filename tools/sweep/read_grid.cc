#include "tools/sweep/read_grid.h"

#include <fmt/core.h>

#include "costmodel/proto_file.h"
#include "tools/sweep/row_maker.h"

namespace stagecraft {

Grid GridFrom(const GridProto& proto, const std::string& name) {
  return Grid::FromProto(proto, FlagsOf(VerbOf(proto, name)), name);
}

Grid ReadGrid(const std::string& path) {
  GridProto proto;
  ReadProtoFile(path, &proto);
  return GridFrom(proto, path);
}

std::string DescribeGrid(const Grid& grid) {
  std::string varied;
  for (const GridAxis& axis : grid.axes()) {
    if (axis.values.size() < 2) continue;
    varied += fmt::format("{}{} {}", varied.empty() ? "" : " x ", axis.values.size(), axis.flag);
  }
  return fmt::format("{} point{} of {}{}{}", grid.size(), grid.size() == 1 ? "" : "s",
                     Name(grid.verb()), varied.empty() ? "" : ": ", varied);
}

}  // namespace stagecraft
