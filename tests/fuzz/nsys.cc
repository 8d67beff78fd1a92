// Reads SQLite databases of Nsight Systems and makes timelines of them.
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/temporary_file.h"
#include "tools/recorded/kernel_places.h"
#include "tools/recorded/measured_timeline.h"
#include "tools/recorded/nsys_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const fuzz::TemporaryFile file(data, size, ".sqlite");
  const auto read = [&] {
    std::vector<Recording> recordings = ReadNsys(file.path());
    for (Recording& recording : recordings) PlaceKernels(recording);
    CHECK(MakeMeasuredTimeline(recordings).record.schedule.task_count() > 0);
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
