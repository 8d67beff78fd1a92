#include <iostream>

#include "tools/verb/command.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const stagecraft::Args words(argv + 1, argv + argc);
  return stagecraft::RunCommandLine(words, std::cin, std::cout, std::cerr);
}
