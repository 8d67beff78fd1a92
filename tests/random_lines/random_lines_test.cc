// Runs random command lines of every verb, on the seeds of the fuzz targets and mutations of them.
// RANDOM_LINES is their number (500 if it is not set), RANDOM_LINES_SEED the seed (1). A line that
// ends the process is printed before the end.
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "tests/fuzz/mutator.h"
#include "tests/random_lines/outcome_check.h"
#include "tests/random_lines/random_line.h"

namespace stagecraft::random_lines {
namespace {

namespace fs = std::filesystem;

constexpr int kRepeatedOneOf = 10;
constexpr int kLeastAnsweredPercent = 15;
constexpr int kMostSeconds = 60;

// The line that the signal handler prints.
std::string current_line;

void PrintLineAndEnd(int) {
  const char* text = "\nthis command line ended the process, or took more than a minute of it:\n";
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
  if (write(STDERR_FILENO, current_line.data(), current_line.size()) < 0) _exit(1);
  _exit(1);
}

int64_t NumberFrom(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoll(text);
}

// Returns, by name, the size of every file of a folder and the time at which it was written.
std::map<std::string, std::pair<uintmax_t, fs::file_time_type>> StampsOf(const fs::path& folder) {
  std::map<std::string, std::pair<uintmax_t, fs::file_time_type>> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[entry.path().string()] = {entry.file_size(), entry.last_write_time()};
    }
  }
  return files;
}

class RandomLinesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF}) {
      std::signal(signal, PrintLineAndEnd);
    }
    seeds_ = fs::absolute("tests/fuzz/corpus");
    folder_ = fs::path(testing::TempDir()) / "random_lines";
    for (const auto& kind : fs::directory_iterator(seeds_)) AddFiles(kind.path());
    AddDatabases();
    Renew();
    fs::current_path(folder_);
  }

  // Restores the files as they are in the repository, their mutations, and an empty folder for
  // outputs.
  void Renew() const {
    fs::create_directories(folder_);
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry);
    fs::copy(seeds_, folder_, fs::copy_options::recursive);
    fs::create_directory(folder_ / "out");
    fs::create_directory(folder_ / "database");
    for (const auto& [name, text] : made_) std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // Adds all files of a kind, and one mutation of each.
  void AddFiles(const fs::path& folder) {
    const std::string kind = folder.filename().string();
    std::vector<std::string> names, seeds;
    for (const auto& file : fs::directory_iterator(folder)) {
      names.push_back(file.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) seeds.push_back(ReadFile(folder / name));
    for (size_t i = 0; i < names.size(); ++i) {
      files_.sound[kind].push_back(kind + "/" + names[i]);
      files_.mutated[kind].push_back(kind + "/mutated-" + names[i]);
      const std::span<const std::string> one(&seeds[i], 1);
      made_[files_.mutated[kind].back()] = fuzz::Mutate(one, random_.Child(kind, i));
    }
  }

  // Adds two shards of a sweep and a sweep of another grid, with a mutation of each.
  void AddDatabases() {
    const fs::path folder = fs::path(testing::TempDir()) / "databases";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const auto sweep = [&](const std::string& name, const std::string& tp, const Args& more) {
      const fs::path grid = folder / ("grid" + tp.substr(1, 1) + ".yaml"), out = folder / name;
      std::ofstream(grid) << "flags:\n  model: gpt2-tiny\n  cluster: h100-sxm:1x4\n"
                          << "  global-batch: 16\n  seq: 128\n  tp: " << tp << '\n';
      Args words = {"sweep", grid, "-o", out, "--threads", "1", "--quiet"};
      words.insert(words.end(), more.begin(), more.end());
      ASSERT_EQ(RunLine(words).code, kExitOk) << Quoted(words);
      const std::string bytes = ReadFile(out);
      const std::string sound = "database/" + name, mutated = "database/mutated-" + name;
      files_.sound["database"].push_back(sound);
      files_.mutated["database"].push_back(mutated);
      made_[sound] = bytes;
      made_[mutated] = fuzz::Mutate({&bytes, 1}, random_.Child(name, 0));
    };
    sweep("first.db", "[1, 2, 4]", {"--shard", "0/2"});
    sweep("second.db", "[1, 2, 4]", {"--shard", "1/2"});
    sweep("other.db", "[2, 4]", {});
  }

  // Runs and checks a line; returns whether it was answered.
  bool Check(const Args& words, bool is_repeated) {
    current_line = Quoted(words) + "\n";
    const itimerval limit = {{0, 0}, {kMostSeconds, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    const auto before = StampsOf(folder_);
    const Outcome outcome = RunLine(words);
    const bool is_changed = StampsOf(folder_) != before;
    for (const std::string& problem : FindProblems(words, outcome)) {
      ADD_FAILURE() << current_line << problem << "\nexit code " << outcome.code << '\n'
                    << outcome.err.substr(0, 1000);
    }
    // A grid whose points are all refused is refused, with their reasons in its database.
    const bool may_change = outcome.err.starts_with("stagecraft sweep: ") &&
                            outcome.err.find("none of its ") != std::string::npos;
    EXPECT_FALSE(is_changed && outcome.code == kExitBadInput && !may_change)
        << current_line << "wrote a file";
    if (is_changed) Renew();
    if (is_repeated) {
      EXPECT_EQ(Repeatable(words, RunLine(words)), Repeatable(words, outcome)) << current_line;
      if (is_changed) Renew();
    }
    ++codes_[outcome.code];
    return outcome.code == kExitOk;
  }

  const uint64_t seed_ = static_cast<uint64_t>(NumberFrom("RANDOM_LINES_SEED", 1));
  const Random random_{seed_};
  Files files_;
  std::map<int, int64_t> codes_;

 private:
  std::map<std::string, std::string> made_;  // files that are not in the repository, by name
  fs::path seeds_, folder_;
};

TEST_F(RandomLinesTest, EveryLineIsAnsweredSoundlyOrRefusedInOneSentence) {
  const int64_t count = NumberFrom("RANDOM_LINES", 500);
  int64_t answered = 0;
  for (int64_t index = 0; index < count; ++index) {
    const Args words = DrawLine(files_, random_.Child("line", static_cast<uint64_t>(index)));
    answered += Check(words, index % kRepeatedOneOf == 0) ? 1 : 0;
  }
  std::cout << count << " command lines with seed " << seed_ << ", " << answered << " answered\n";
  for (const auto& [code, lines] : codes_) {
    std::cout << "exit code " << code << ": " << lines << '\n';
  }
  EXPECT_GE(answered * 100, count * kLeastAnsweredPercent);
}

}  // namespace
}  // namespace stagecraft::random_lines
