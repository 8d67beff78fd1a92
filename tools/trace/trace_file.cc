#include "tools/trace/trace_file.h"

#include <filesystem>

#include "costmodel/check.h"
#include "costmodel/whole_file.h"
#include "tools/trace/chrome_writer.h"
#include "tools/trace/perfetto_writer.h"

namespace stagecraft {

void CheckTraceFile(const std::string& flag, const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".pftrace" || extension == ".json") return;
  throw InputError(flag + ": got \"" + file + "\", want a .pftrace or .json file");
}

void WriteTraceFile(const std::string& file, const TraceView& view) {
  WholeFile whole(file);
  if (file.ends_with(".json")) {
    WriteChrome(view, whole.stream());
  } else {
    WritePerfetto(view, whole.stream());
  }
  whole.Finish();
}

}  // namespace stagecraft
