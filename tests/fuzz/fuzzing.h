// What every fuzz target shares. A target reads bytes that somebody else wrote, as
// the program would. The reader may refuse them with an InputError and in no other way:
// whatever else comes out ends the process, which is how fuzzers see a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "costmodel/check.h"

// One target defines it; libFuzzer and replay_main.cc call it. Always 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stagecraft::fuzz {

// So many inputs, since the process began, that a reader accepted.
int64_t AcceptedInputs();
void CountAccepted();

// Ends the process where the sentence of an error is empty or no one would read to its end.
void CheckSentence(std::string_view sentence);

inline std::string Text(const uint8_t* data, size_t size) { return std::string(data, data + size); }

// Whether `read` accepts what it is about.
template <typename Read>
bool Accepts(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    CheckSentence(error.what());
    return false;
  }
  return true;
}

// The same, tried in every format that structured files have, since an input does not say which
// format it is meant to be. `read` takes the name of a file with that extension.
template <typename Read>
bool AcceptsInSomeFormat(const Read& read) {
  bool is_accepted = false;
  for (const char* extension : {".textproto", ".json", ".yaml", ".pb"}) {
    is_accepted |= Accepts([&] { read(std::string(extension), "input" + std::string(extension)); });
  }
  return is_accepted;
}

}  // namespace stagecraft::fuzz
