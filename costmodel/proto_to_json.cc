#include "costmodel/proto_to_json.h"

#include <google/protobuf/descriptor.h>

#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

// Returns the value of a singular field, or the one at `index` of a repeated field.
Json ValueOf(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* r = message.GetReflection();
  const auto get = [&](auto one, auto at) {
    return field->is_repeated() ? (r->*at)(message, field, index) : (r->*one)(message, field);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat);
    case FieldDescriptor::CPPTYPE_BOOL:
      return get(&Reflection::GetBool, &Reflection::GetRepeatedBool);
    case FieldDescriptor::CPPTYPE_STRING:
      CHECK(field->type() == FieldDescriptor::TYPE_STRING);
      return get(&Reflection::GetString, &Reflection::GetRepeatedString);
    case FieldDescriptor::CPPTYPE_ENUM:
      return get(&Reflection::GetEnum, &Reflection::GetRepeatedEnum)->name();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return ProtoToJson(field->is_repeated() ? r->GetRepeatedMessage(message, field, index)
                                          : r->GetMessage(message, field, nullptr));
}

}  // namespace

Json ProtoToJson(const Message& message) {
  Json json = Json::object();
  const Reflection* reflection = message.GetReflection();
  const auto* type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    CHECK(!field->is_map());
    if (field->is_repeated()) {
      Json& list = json[field->name()] = Json::array();
      for (int at = 0; at < reflection->FieldSize(message, field); ++at) {
        list.push_back(ValueOf(message, field, at));
      }
    } else if (!field->has_presence() || reflection->HasField(message, field)) {
      json[field->name()] = ValueOf(message, field, 0);
    }
  }
  return json;
}

}  // namespace stagecraft
