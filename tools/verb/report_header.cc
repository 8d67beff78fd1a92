#include "tools/verb/report_header.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <nlohmann/json.hpp>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/verb/command.h"

namespace stagecraft {

std::string Sha256(const std::string& contents) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  CHECK(EVP_Digest(contents.data(), contents.size(), digest, &size, EVP_sha256(), nullptr) == 1);
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
