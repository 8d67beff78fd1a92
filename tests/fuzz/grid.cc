// Reads grids of sweeps, and takes points from them.
#include "tools/sweep/grid.h"

#include "costmodel/proto_file.h"
#include "proto/grid.pb.h"
#include "tests/fuzz/fuzzing.h"
#include "tools/study/study_point.h"
#include "tools/sweep/read_grid.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    GridProto proto;
    ParseProtoText(text, name, extension, &proto);
    const Grid grid = GridFrom(proto, name);
    CHECK(grid.size() >= 1 && grid.size() <= kMostPoints);
    const StudyPoint first = grid.At(0), last = grid.At(grid.size() - 1);
    CHECK((first == last) == (grid.size() == 1));
    CHECK(grid.Varied().size() <= grid.axes().size());
    CHECK(!grid.Definition().empty());
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
