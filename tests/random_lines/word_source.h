// WordSource: draws random words, and collects them in a command line.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "tools/verb/command.h"

namespace stagecraft::random_lines {

// Names of files that a line may read, by their kind: "cluster", "plan", ...
using FilesByKind = std::map<std::string, std::vector<std::string>>;
struct Files {
  FilesByKind sound;
  FilesByKind mutated;  // of every kind that `sound` has
};

class WordSource {
 public:
  // `files` must outlive the object.
  WordSource(const Files& files, Random random) : files_(files), random_(random) {}

  // Returns true with this probability.
  bool Chance(int percent) { return random_.Integer(1, 100) <= percent; }
  int Below(size_t count) {
    return static_cast<int>(random_.Integer(0, static_cast<int64_t>(count) - 1));
  }
  int Between(int low, int high) { return static_cast<int>(random_.Integer(low, high)); }
  template <typename T>
  T OneOf(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(Below(choices.size()))];
  }
  std::string OneOf(std::initializer_list<const char*> choices) {
    return OneOf(std::vector<std::string>(choices.begin(), choices.end()));
  }
  std::string File(const std::string& kind) {
    const FilesByKind& files = Chance(15) ? files_.mutated : files_.sound;
    return OneOf(files.at(kind));
  }

  // The same, never a mutated one.
  std::string SoundFile(const std::string& kind) { return OneOf(files_.sound.at(kind)); }

  void Add(const std::string& word) { words_.push_back(word); }
  void Add(const std::string& flag, const std::string& value) {
    words_.push_back(flag);
    words_.push_back(value);
  }
  void Add(const std::string& flag, int value) { Add(flag, std::to_string(value)); }
  // Adds the flag with this probability.
  void Maybe(int percent, const std::string& flag, std::initializer_list<const char*> values) {
    if (Chance(percent)) Add(flag, OneOf(values));
  }
  void Maybe(int percent, const std::string& flag) {
    if (Chance(percent)) Add(flag);
  }

  // Makes one word wrong, or the line one word too long or too short.
  void Spoil();
  Args Take() { return std::move(words_); }

 private:
  const Files& files_;
  Random random_;
  Args words_;
};

}  // namespace stagecraft::random_lines
