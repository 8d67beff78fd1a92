// The verbs that need a GPU, for machines that have one and little else.
#include <iostream>

#include "tools/command.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const stagecraft::Args words(argv + 1, argv + argc);
  constexpr stagecraft::Command kCommands[] = {
      {"profile", "ops measured on a GPU: samples for fit and evaluate", stagecraft::RunProfile}};
  constexpr const char* kExample = "  stagecraft profile --device cuda:0 -o samples.csv\n";
  return stagecraft::RunOneOf(kCommands, kExample, words, std::cin, std::cout, std::cerr);
}
