// Writes docs/schema: the JSON Schema of every kind of file and of every verb's --json.
//
//   bazel run --config=opt //tools/schema:write_schemas -- $PWD/tools/schema/outputs
//   $PWD/docs/schema
#include <exception>
#include <iostream>
#include <string>

#include "costmodel/proto_file.h"
#include "tools/schema/all_schemas.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: write_schemas DESCRIPTIONS DOCS\n";
    return 2;
  }
  try {
    for (const auto& [name, text] : stagecraft::AllSchemas(argv[1])) {
      stagecraft::WriteFileAtomically(std::string(argv[2]) + "/" + name + ".json", text);
    }
  } catch (const std::exception& error) {
    std::cerr << "write_schemas: " << error.what() << '\n';
    return 1;
  }
}
