// What all fuzz targets share. A target reads bytes from outside in the way that the program does.
// The reader may refuse them with an InputError and in no other way: any other exception ends the
// process, which fuzzers count as a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "costmodel/check.h"

// Each target defines this function, which libFuzzer and replay_main.cc call. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stagecraft::fuzz {

// Return and increment the number of inputs that a reader has accepted since the process began.
int64_t AcceptedInputs();
void CountAccepted();

// Ends the process if the sentence of an error is empty or too long to be read.
void CheckSentence(std::string_view sentence);

inline std::string Text(const uint8_t* data, size_t size) { return std::string(data, data + size); }

// Whether `read` accepts its input, that is, throws no InputError.
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

// Whether `read` accepts its input in any of the formats of structured files, since an input does
// not say which one it is meant to be. `read` gets an extension and the name of a file that has it.
template <typename Read>
bool AcceptsInSomeFormat(const Read& read) {
  bool is_accepted = false;
  for (const char* extension : {".textproto", ".json", ".yaml", ".pb"}) {
    is_accepted |= Accepts([&] { read(std::string(extension), "input" + std::string(extension)); });
  }
  return is_accepted;
}

}  // namespace stagecraft::fuzz
