#include "costmodel/proto_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/file_kind.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/whole_file.h"

namespace stagecraft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

constexpr size_t kMaxFileBytes = size_t{1} << 31;
// The most that is read from a pipe or a device, which do not state their length.
constexpr size_t kMaxStreamBytes = size_t{1} << 28;
// A tree of JSON takes several times the memory of its text.
constexpr size_t kMaxTreeBytes = size_t{1} << 28;
constexpr int kMaxNesting = 100;
constexpr std::array<std::string_view, 7> kExtensions = {".textproto", ".pbtxt", ".txtpb", ".json",
                                                         ".yaml",      ".yml",   ".pb"};

// Keeps the first error; TextFormat counts lines and columns from zero.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!text_.empty()) return;
    text_ = message;
    while (!text_.empty() && text_.back() == '.') text_.pop_back();
    place_ = line < 0 ? "" : ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1);
  }
  const std::string& text() const { return text_; }
  const std::string& place() const { return place_; }

 private:
  std::string text_;
  std::string place_;
};

void ParseTextFormat(const std::string& text, const std::string& name, Message* message) {
  TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxNesting);
  if (parser.ParseFromString(text, message)) return;
  const std::string kind = KindOfKeys(TextFormatKeys(text));
  const std::string wanted = NounOfMessage(message->GetDescriptor()->name());
  if (!kind.empty() && kind != wanted) {
    throw InputError(name + ": the file is " + kind + ", want " + wanted);
  }
  throw InputError(name + error.place() + ": " + error.text() + ", want a " +
                   message->GetDescriptor()->name() + " in text format");
}

void ParseBinary(const std::string& text, const std::string& name, Message* message) {
  if (message->ParseFromString(text)) return;
  throw InputError(name + ": got " + std::to_string(text.size()) +
                   " bytes that are damaged or cut short, or not " +
                   NounOfMessage(message->GetDescriptor()->name()) +
                   "; stagecraft check says what they are");
}

double FloatingValue(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    return index < 0 ? reflection->GetDouble(message, field)
                     : reflection->GetRepeatedDouble(message, field, index);
  }
  return index < 0 ? reflection->GetFloat(message, field)
                   : reflection->GetRepeatedFloat(message, field, index);
}

std::string FindBadValue(const Message& message);

// Returns the rest of a value's key path and what is wrong with the value; empty if nothing is
// wrong.
std::string FindBadElement(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const std::string inside =
        FindBadValue(index < 0 ? reflection->GetMessage(message, field)
                               : reflection->GetRepeatedMessage(message, field, index));
    if (inside.empty()) return "";
    return (inside.starts_with(":") ? "" : ".") + inside;
  }
  const double value = FloatingValue(message, field, index);
  return std::isfinite(value) ? "" : ": got " + std::to_string(value) + ", want a finite number";
}

// Returns what is wrong with the first NaN, infinity or field that the schema does not have; empty
// if there is none.
std::string FindBadValue(const Message& message) {
  const Reflection* reflection = message.GetReflection();
  const auto& unknown = reflection->GetUnknownFields(message);
  if (!unknown.empty()) {
    return ": got unknown field number " + std::to_string(unknown.field(0).number()) + ", want " +
           NounOfMessage(message.GetDescriptor()->name());
  }
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const auto type = field->cpp_type();
    if (type != FieldDescriptor::CPPTYPE_MESSAGE && type != FieldDescriptor::CPPTYPE_DOUBLE &&
        type != FieldDescriptor::CPPTYPE_FLOAT) {
      continue;
    }
    const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const int index = field->is_repeated() ? i : -1;
      const std::string bad = FindBadElement(message, field, index);
      if (bad.empty()) continue;
      return field->name() + (index < 0 ? "" : "[" + std::to_string(index) + "]") + bad;
    }
  }
  return "";
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

}  // namespace

bool IsProtoExtension(const std::string& extension) {
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

std::string ReadFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(path + ": got a directory, want a file");
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    throw InputError(path + ": cannot be read (" + std::strerror(errno) + "), want a file");
  }
  const bool is_stream = !std::filesystem::is_regular_file(path, ignored);
  const size_t most = is_stream ? kMaxStreamBytes : kMaxFileBytes;
  const auto check_size = [&](uintmax_t size) {
    if (size <= most) return;
    throw InputError(path + ": got more than " +
                     (is_stream ? "256 MiB from a file that is not regular" : "2 GiB") +
                     ", want a smaller file");
  };
  std::string contents;
  if (!is_stream) {
    const uintmax_t size = std::filesystem::file_size(path, ignored);
    if (!ignored) {
      check_size(size);
      contents.reserve(static_cast<size_t>(size));
    }
  }
  std::vector<char> buffer(1 << 16);
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    contents.append(buffer.data(), count);
    check_size(contents.size());
  }
  if (std::ferror(file.get()) != 0) {
    throw InputError(path + ": cannot be read to its end, want a readable file");
  }
  return contents;
}

void ParseProtoText(const std::string& text, const std::string& name_for_errors,
                    const std::string& extension, Message* message) {
  message->Clear();
  if (!IsProtoExtension(extension)) {
    throw InputError(name_for_errors + ": got extension \"" + extension +
                     "\", want .textproto, .json, .yaml or .pb");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError(name_for_errors + ": got an empty file, want " +
                     NounOfMessage(message->GetDescriptor()->name()));
  }
  const bool is_tree = extension == ".json" || extension == ".yaml" || extension == ".yml";
  if (is_tree && text.size() > kMaxTreeBytes) {
    throw InputError(name_for_errors + ": got " + std::to_string(text.size()) +
                     " bytes of text, want at most 256 MiB, or the same as .pb");
  }
  if (extension == ".json") {
    JsonToProto(ParseJson(text, name_for_errors), name_for_errors, message);
  } else if (extension == ".yaml" || extension == ".yml") {
    JsonToProto(ParseYaml(text, name_for_errors), name_for_errors, message);
  } else if (extension == ".pb") {
    ParseBinary(text, name_for_errors, message);
  } else {
    ParseTextFormat(text, name_for_errors, message);
  }
  const std::string bad = FindBadValue(*message);
  if (bad.empty()) return;
  throw InputError(name_for_errors + (bad.starts_with(":") ? "" : ": ") + bad);
}

void ReadProtoFile(const std::string& path, Message* message) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (!IsProtoExtension(extension)) {
    throw InputError(path + ": got extension \"" + extension +
                     "\", want .textproto, .json, .yaml or .pb");
  }
  ParseProtoText(ReadFile(path), path, extension, message);
}

void WriteFileAtomically(const std::string& path, const std::string& contents) {
  WholeFile file(path);
  file.stream().write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.Finish();
}

}  // namespace stagecraft
