#include "tools/schema/file_schema.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "costmodel/check.h"
#include "tools/check/check_kinds.h"
#include "tools/schema/schema_document.h"

namespace stagecraft {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using Json = nlohmann::ordered_json;

Json Reference(const Descriptor& message) {
  return {{"$ref", "#/$defs/" + std::string(message.name())}};
}

Json EnumSchema(const EnumDescriptor& type) {
  Json names = Json::array();
  for (int i = 0; i < type.value_count(); ++i) names.push_back(type.value(i)->name());
  return {{"enum", std::move(names)}};
}

Json IntegerSchema(int64_t low, uint64_t high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
}

// The schema of a message that stands for any JSON value or object, as those of flags do; null if
// it is another message.
Json FreeSchema(const Descriptor& message) {
  if (message.full_name() == "google.protobuf.Value") return Json::object();
  if (message.full_name() == "google.protobuf.Struct") return {{"type", "object"}};
  return nullptr;
}

// The schema of one value of a field.
Json ValueSchema(const FieldDescriptor& field) {
  using Limits32 = std::numeric_limits<int32_t>;
  using Limits64 = std::numeric_limits<int64_t>;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return IntegerSchema(Limits32::min(), Limits32::max());
    case FieldDescriptor::CPPTYPE_UINT32:
      return IntegerSchema(0, std::numeric_limits<uint32_t>::max());
    // The JSON of proto3 writes 64-bit integers in quotes; files may have them without.
    case FieldDescriptor::CPPTYPE_INT64:
      return {{"anyOf",
               {IntegerSchema(Limits64::min(), Limits64::max()),
                {{"type", "string"}, {"pattern", "^-?[0-9]+$"}}}}};
    case FieldDescriptor::CPPTYPE_UINT64:
      return {{"anyOf",
               {IntegerSchema(0, std::numeric_limits<uint64_t>::max()),
                {{"type", "string"}, {"pattern", "^[0-9]+$"}}}}};
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return {{"type", "number"}};
    case FieldDescriptor::CPPTYPE_BOOL:
      return {{"type", "boolean"}};
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumSchema(*field.enum_type());
    case FieldDescriptor::CPPTYPE_STRING:
      return {{"type", "string"}};
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      Json free = FreeSchema(*field.message_type());
      return free.is_null() ? Reference(*field.message_type()) : free;
    }
  }
  CHECK(false);
  return {};
}

Json FieldSchema(const FieldDescriptor& field) {
  if (field.is_map()) {
    return {{"type", "object"},
            {"additionalProperties", ValueSchema(*field.message_type()->map_value())}};
  }
  if (field.is_repeated()) return {{"type", "array"}, {"items", ValueSchema(field)}};
  return ValueSchema(field);
}

Json MessageSchema(const Descriptor& message) {
  Json properties = Json::object();
  for (int i = 0; i < message.field_count(); ++i) {
    properties[message.field(i)->name()] = FieldSchema(*message.field(i));
  }
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

// Adds the messages of a message's fields, and those of theirs, each once.
void AddMessages(const Descriptor& message, Json& definitions) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const FieldDescriptor& value = field.is_map() ? *field.message_type()->map_value() : field;
    if (value.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const Descriptor& type = *value.message_type();
    if (definitions.contains(type.name()) || !FreeSchema(type).is_null()) continue;
    definitions[type.name()] = MessageSchema(type);
    AddMessages(type, definitions);
  }
}

std::string NameOf(const FileKind& kind) {
  std::string name = kind.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

}  // namespace

nlohmann::ordered_json FileSchema(const std::string& title, const Descriptor& message) {
  Json definitions = Json::object();
  AddMessages(message, definitions);
  return SchemaDocument(title, MessageSchema(message), definitions);
}

std::vector<std::string> FileSchemaNames() {
  std::vector<std::string> names;
  for (const FileKind& kind : FileKinds()) names.push_back(NameOf(kind));
  return names;
}

nlohmann::ordered_json FileSchemaOf(const std::string& name) {
  for (const FileKind& kind : FileKinds()) {
    if (NameOf(kind) != name) continue;
    return FileSchema(std::string("stagecraft ") + kind.name, *kind.make()->GetDescriptor());
  }
  CHECK(false);
  return {};
}

}  // namespace stagecraft
