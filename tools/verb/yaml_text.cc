#include "tools/verb/yaml_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kWidth = 100;

// Words that YAML 1.1 does not read as text.
bool IsReserved(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const char* const reserved[] = {"true", "false", "yes", "no", "on", "off",
                                  "null", "nan",   "inf", "y",  "n"};
  return std::any_of(std::begin(reserved), std::end(reserved),
                     [&](const char* one) { return word == one; });
}

std::string Quoted(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  };
  const bool begins_plain = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0;
  if (begins_plain && std::all_of(text.begin(), text.end(), is_plain) && !IsReserved(text)) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < ' ') {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string FlowOf(const Message& message);

// The value of a field, or of element `index` of a list, on one line.
std::string Value(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& r = *message.GetReflection();
  const bool is_list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return fmt::format(
          "{}", is_list ? r.GetRepeatedInt32(message, &field, index) : r.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format(
          "{}", is_list ? r.GetRepeatedInt64(message, &field, index) : r.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return fmt::format("{}", is_list ? r.GetRepeatedUInt32(message, &field, index)
                                       : r.GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fmt::format("{}", is_list ? r.GetRepeatedUInt64(message, &field, index)
                                       : r.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", is_list ? r.GetRepeatedDouble(message, &field, index)
                                       : r.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return fmt::format(
          "{}", is_list ? r.GetRepeatedFloat(message, &field, index) : r.GetFloat(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return fmt::format(
          "{}", is_list ? r.GetRepeatedBool(message, &field, index) : r.GetBool(message, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return (is_list ? r.GetRepeatedEnum(message, &field, index) : r.GetEnum(message, &field))
          ->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return Quoted(is_list ? r.GetRepeatedString(message, &field, index)
                            : r.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return FlowOf(is_list ? r.GetRepeatedMessage(message, &field, index)
                            : r.GetMessage(message, &field));
  }
  CHECK(false);
  return "";
}

std::string FieldValue(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) return Value(message, field, -1);
  std::vector<std::string> values;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    values.push_back(Value(message, field, i));
  }
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::vector<const FieldDescriptor*> SetFields(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

std::string FlowOf(const Message& message) {
  std::vector<std::string> fields;
  for (const FieldDescriptor* field : SetFields(message)) {
    fields.push_back(fmt::format("{}: {}", field->name(), FieldValue(message, *field)));
  }
  return fmt::format("{{{}}}", fmt::join(fields, ", "));
}

// Adds the lines of a message. `first` begins the first line; the others are indented as far.
void AddLines(const Message& message, const std::string& first, std::string& text) {
  std::string begin = first;
  const std::string indent(first.size(), ' ');
  for (const FieldDescriptor* field : SetFields(message)) {
    const std::string line =
        fmt::format("{}{}: {}", begin, field->name(), FieldValue(message, *field));
    begin = indent;
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (line.size() <= kWidth || !is_message) {
      text += line + '\n';
      continue;
    }
    text += fmt::format("{}{}:\n", line.substr(0, indent.size()), field->name());
    const Reflection& r = *message.GetReflection();
    if (!field->is_repeated()) {
      AddLines(r.GetMessage(message, field), indent + "  ", text);
      continue;
    }
    for (int i = 0; i < r.FieldSize(message, field); ++i) {
      const Message& element = r.GetRepeatedMessage(message, field, i);
      const std::string flow = fmt::format("{}- {}\n", indent, FlowOf(element));
      if (flow.size() <= kWidth + 1) {
        text += flow;
      } else {
        AddLines(element, indent + "- ", text);
      }
    }
  }
}

}  // namespace

std::string YamlText(const Message& message) {
  std::string text;
  AddLines(message, "", text);
  return text.empty() ? "{}\n" : text;
}

}  // namespace stagecraft
