#include "tools/verb/report_header.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <openssl/evp.h>

#include <nlohmann/json.hpp>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

// OpenSSL's functions. The program is not linked with the library, which takes a millisecond to
// load and is only needed by reports about files.
struct CryptoLibrary {
  decltype(&::EVP_Digest) digest = nullptr;
  decltype(&::EVP_sha256) sha256 = nullptr;
};

CryptoLibrary LoadCrypto() {
  constexpr const char* kName = "libcrypto.so.3";
  void* const handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  CryptoLibrary library;
  if (handle != nullptr) {
    library.digest = reinterpret_cast<decltype(library.digest)>(dlsym(handle, "EVP_Digest"));
    library.sha256 = reinterpret_cast<decltype(library.sha256)>(dlsym(handle, "EVP_sha256"));
  }
  if (library.digest == nullptr || library.sha256 == nullptr) {
    throw InputError(
        fmt::format("hashes of files: got no {}, want Debian's package libssl3", kName));
  }
  return library;
}

}  // namespace

std::string Sha256(const std::string& contents) {
  static const CryptoLibrary crypto = LoadCrypto();
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  CHECK(crypto.digest(contents.data(), contents.size(), digest, &size, crypto.sha256(), nullptr) ==
        1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

nlohmann::ordered_json ReportHeader(const std::string& command, int schema,
                                    const std::vector<std::string>& files) {
  nlohmann::ordered_json inputs = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    inputs.push_back({{"path", file}, {"sha256", Sha256(ReadFile(file))}});
  }
  return {{"schema", schema},
          {"tool_version", kToolVersion},
          {"command", command},
          {"inputs", std::move(inputs)}};
}

}  // namespace stagecraft
