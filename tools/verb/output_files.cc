#include "tools/verb/output_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "costmodel/check.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

struct Output {
  std::string flag, path;
  size_t word;  // index of the word that holds the path
};

// The files that the words name after one of the flags. A flag without a value is refused later, by
// Flags::Parse().
std::vector<Output> OutputsAmong(const Args& words, const Args& flags) {
  std::vector<Output> outputs;
  for (size_t i = 0; i < words.size(); ++i) {
    for (const std::string& flag : flags) {
      if (words[i] == flag && i + 1 < words.size()) {
        outputs.push_back({flag, words[i + 1], i + 1});
      } else if (words[i].starts_with(flag + "=")) {
        outputs.push_back({flag, words[i].substr(flag.size() + 1), i});
      } else if (flag == "-o" && words[i].starts_with(flag) && words[i].size() > flag.size()) {
        outputs.push_back({flag, words[i].substr(flag.size()), i});
      }
    }
  }
  return outputs;
}

// The paths that a word may name: the word itself, the config.json in a folder of that name, what
// follows "=", the words in a quoted string of flags, and the items of each of these lists.
Args PathsIn(const std::string& word) {
  Args paths{word, (fs::path(word) / "config.json").string()};
  if (const size_t equals = word.find('='); equals != std::string::npos) {
    paths.push_back(word.substr(equals + 1));
  }
  std::istringstream inside(word);
  for (std::string one; inside >> one;) paths.push_back(one);
  for (const std::string& text : Args(paths)) {
    std::istringstream list(text);
    for (std::string one; std::getline(list, one, ',');) paths.push_back(one);
  }
  return paths;
}

bool IsSame(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) {
    return fs::is_regular_file(a, error);  // several may write to one terminal
  }
  return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error) && !error;
}

void CheckAlone(const Output& output, const Args& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (i == output.word) continue;
    for (const std::string& path : PathsIn(words[i])) {
      if (path.empty() || !IsSame(path, output.path)) continue;
      throw InputError(
          fmt::format("{}: got \"{}\", which the command names twice, want a file of "
                      "its own to write",
                      output.flag, output.path));
    }
  }
}

// Returns the errno with which the system refuses to let `target` be written; no value if it does
// not.
std::optional<int> WhyNotWritable(const fs::path& target) {
  std::error_code error;
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    if (access(target.c_str(), W_OK) != 0) return errno;
    return std::nullopt;
  }
  const std::string probe = target.string() + "." + std::to_string(getpid()) + ".part";
  const int descriptor = open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno == EEXIST && access(probe.c_str(), W_OK) == 0) {
    // Another process with this id, in a container or on another host, writes here or was killed.
    return std::nullopt;
  }
  if (descriptor < 0) return errno;
  close(descriptor);
  unlink(probe.c_str());
  return std::nullopt;
}

void CheckPlace(const Output& output) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(output.path, error);
  if (error) target = output.path;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    throw InputError(
        fmt::format("{}: got \"{}\", whose folder does not exist", output.flag, output.path));
  }
  if (fs::is_directory(target, error)) {
    throw InputError(fmt::format("{}: got the directory \"{}\", want a file to write", output.flag,
                                 output.path));
  }
  if (const std::optional<int> reason = WhyNotWritable(target)) {
    if (*reason == ENAMETOOLONG) {
      throw InputError(fmt::format("{}: got a name of {} characters, want a shorter one",
                                   output.flag, output.path.size()));
    }
    throw std::runtime_error(fmt::format("{}: \"{}\" cannot be written: {}", output.flag,
                                         output.path, std::strerror(*reason)));
  }
}

}  // namespace

const Args& OutputFlags() {
  static const Args flags = {
      "-o",       "--output",  "--op-samples",  "--trace",    "--csv",   "--timeline",
      "--report", "--history", "--save-policy", "--template", "--launch"};
  return flags;
}

void CheckOutputFiles(const Args& words, const Args& flags) {
  if (AskForHelp(words)) return;
  for (const Output& output : OutputsAmong(words, flags)) {
    if (output.path.empty()) {
      throw InputError(output.flag + ": got \"\", want the name of a file to write");
    }
    if (output.path.starts_with("-")) continue;  // another flag, which Flags::Parse() refuses
    CheckAlone(output, words);
    CheckPlace(output);
  }
}

}  // namespace stagecraft
