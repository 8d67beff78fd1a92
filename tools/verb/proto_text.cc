#include "tools/verb/proto_text.h"

#include <fmt/core.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <filesystem>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/verb/yaml_text.h"

namespace stagecraft {

std::string ProtoText(const google::protobuf::Message& message, const std::string& extension) {
  std::string text;
  if (extension == ".yaml" || extension == ".yml") return YamlText(message);
  if (extension == ".json") {
    google::protobuf::util::JsonPrintOptions options;
    options.add_whitespace = true;
    options.preserve_proto_field_names = true;
    CHECK(google::protobuf::util::MessageToJsonString(message, &text, options).ok());
    return text;
  }
  CHECK(google::protobuf::TextFormat::PrintToString(message, &text));
  return fmt::format("# proto-file: {}\n# proto-message: {}\n{}",
                     message.GetDescriptor()->file()->name(), message.GetDescriptor()->full_name(),
                     text);
}

void CheckProtoTextPath(const std::string& flag, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (IsProtoExtension(extension) && extension != ".pb") return;
  throw InputError(
      fmt::format("{}: got \"{}\", want a .textproto, .json or .yaml file", flag, path));
}

}  // namespace stagecraft
