#include "tests/fuzz/fuzzing.h"

#include <atomic>

namespace stagecraft::fuzz {
namespace {

// The most bytes of a sentence: it quotes what is wrong, cut to a readable length, and never a
// whole file.
constexpr size_t kMostBytesOfASentence = 4096;

std::atomic<int64_t> accepted = 0;

}  // namespace

int64_t AcceptedInputs() { return accepted; }
void CountAccepted() { ++accepted; }

void CheckSentence(std::string_view sentence) {
  CHECK(!sentence.empty());
  CHECK(sentence.size() <= kMostBytesOfASentence);
}

}  // namespace stagecraft::fuzz
