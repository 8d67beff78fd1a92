// Replays the seeds of a fuzz target, and a number of mutations of them, through the target,
// without the runtime of a fuzzer:
//
//   NAME_replay_test SEEDS COUNT [SEED]   all files of the folder SEEDS, then COUNT mutations
//   NAME_replay_test FILE...              only these files
//
// An input that ends the process, or takes more than kMostSeconds of CPU time, is written to
// "crash-NUMBER" in the folder of the test's outputs, or in the working directory if there is none.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/mutator.h"

namespace stagecraft::fuzz {
namespace {

constexpr int kMostSeconds = 5;
constexpr rlim_t kMostMemory = rlim_t{2} << 30;
// At least one mutation in this many must be accepted; otherwise too few inputs reach the code
// behind the reader.
constexpr int64_t kInputsForEachAccepted = 100;

// The input that the signal handler writes to crash_path.
const std::string* current_input = nullptr;
char crash_path[4096];

void WriteMessage(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
}

// The signal handler, which may call only functions that are safe in one.
void WriteInputAndEnd(int signal) {
  const int file = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0 && current_input != nullptr) {
    if (write(file, current_input->data(), current_input->size()) < 0) WriteMessage("not ");
  }
  WriteMessage(signal == SIGPROF ? "an input took more than 5 s; it is written to "
                                 : "an input ended the process; it is written to ");
  WriteMessage(crash_path);
  WriteMessage("\n");
  _exit(1);
}

void CatchEnds() {
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  std::snprintf(crash_path, sizeof(crash_path), "%s/crash-%d", outputs != nullptr ? outputs : ".",
                static_cast<int>(getpid()));
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF}) {
    std::signal(signal, WriteInputAndEnd);
  }
}

// AddressSanitizer reserves more addresses than kMostMemory. gcc and clang tell in different ways
// that it is in use.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kReservesAddresses = true;
#elif defined(__has_feature)
constexpr bool kReservesAddresses = __has_feature(address_sanitizer);
#else
constexpr bool kReservesAddresses = false;
#endif

void LimitMemory() {
  if (kReservesAddresses) return;
  const rlimit limit = {kMostMemory, kMostMemory};
  setrlimit(RLIMIT_AS, &limit);
}

// Limits the CPU time of the process, not the wall-clock time, so that a slow run on a loaded
// machine does not count as a hang.
void StartTimer() {
  const itimerval limit = {{0, 0}, {kMostSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

void Run(const std::string& input) {
  current_input = &input;
  StartTimer();
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads the seeds of a folder, in the order of their names.
std::vector<std::string> ReadSeeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const std::filesystem::path& file : files) seeds.push_back(Read(file));
  return seeds;
}

// Runs all seeds; returns false unless their reader accepts every one, since seeds are sound files.
bool RunSeeds(const std::vector<std::string>& seeds) {
  for (const std::string& seed : seeds) {
    const int64_t before = AcceptedInputs();
    Run(seed);
    if (AcceptedInputs() > before) continue;
    std::cerr << "refused, want every seed to be accepted:\n" << seed.substr(0, 400) << '\n';
    return false;
  }
  return !seeds.empty();
}

bool RunMutations(const std::vector<std::string>& seeds, int64_t count, uint64_t seed) {
  const int64_t before = AcceptedInputs();
  const Random random(seed);
  for (int64_t index = 0; index < count; ++index) {
    Run(Mutate(seeds, random.Child("mutation", static_cast<uint64_t>(index))));
  }
  const int64_t accepted = AcceptedInputs() - before;
  std::cout << count << " mutations of " << seeds.size() << " files with seed " << seed << ", "
            << accepted << " of them accepted\n";
  return accepted * kInputsForEachAccepted >= count;
}

int Main(const std::vector<std::string>& words) {
  CatchEnds();
  LimitMemory();
  if (words.empty() || !std::filesystem::is_directory(words[0])) {
    for (const std::string& word : words) Run(Read(word));
    return words.empty() ? 2 : 0;
  }
  const std::vector<std::string> seeds = ReadSeeds(words[0]);
  const int64_t count = words.size() > 1 ? std::stoll(words[1]) : 0;
  const uint64_t seed = words.size() > 2 ? std::stoull(words[2]) : 1;
  return RunSeeds(seeds) && RunMutations(seeds, count, seed) ? 0 : 1;
}

}  // namespace
}  // namespace stagecraft::fuzz

int main(int argc, char** argv) { return stagecraft::fuzz::Main({argv + 1, argv + argc}); }
