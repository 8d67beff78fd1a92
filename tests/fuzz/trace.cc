// Reads traces, as `check` does: Chrome's JSON and Perfetto's packets.
#include "tests/fuzz/fuzzing.h"
#include "tools/trace/check_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const bool is_chrome = fuzz::Accepts([&] { CheckChromeTrace(text, "trace.json"); });
  const bool is_perfetto = fuzz::Accepts([&] { CheckPerfettoTrace(text, "trace.pftrace"); });
  if (is_chrome || is_perfetto) fuzz::CountAccepted();
  return 0;
}
