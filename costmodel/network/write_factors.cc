// Writes what the program that ships a network model need not compute again each time it starts.
//
//   write_factors MODEL.pb FACTORS
#include <exception>
#include <iostream>

#include "costmodel/network/network_model.h"
#include "costmodel/proto_file.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: write_factors MODEL.pb FACTORS\n";
    return 2;
  }
  try {
    const auto model = stagecraft::NetworkModel::Read(argv[1]);
    stagecraft::WriteFileAtomically(argv[2], model.FactorBytes());
  } catch (const std::exception& error) {
    std::cerr << "write_factors: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
