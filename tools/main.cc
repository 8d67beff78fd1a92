#include <malloc.h>

#include <iostream>

#include "tools/verb/command.h"

int main(int argc, char** argv) {
  // Each plan needs about the memory that the one before it freed: up to 1 GB stays with the
  // process instead of going back to the system, which would hand it out again page by page.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::ios::sync_with_stdio(false);
  const stagecraft::Args words(argv + 1, argv + argc);
  return stagecraft::RunCommandLine(words, std::cin, std::cout, std::cerr);
}
