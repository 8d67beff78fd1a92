#include "costmodel/json_to_proto.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>

#include <cctype>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/file_kind.h"
#include "costmodel/nearest.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::json;

// Returns a value as errors show it: on one short line.
std::string Shown(const json& value) {
  constexpr size_t kMaxShown = 60;
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return text;
}

// The current place in the file; opens every error.
struct Place {
  std::string name;
  std::string path;
  const json* root = nullptr;  // the whole file

  [[noreturn]] void Fail(const json& got, const std::string& want) const {
    throw InputError(name + ": " + (path.empty() ? "" : path + ": ") + "got " + Shown(got) +
                     ", want " + want);
  }
  Place Key(const std::string& key) const {
    return {name, path.empty() ? key : path + "." + key, root};
  }
  Place At(size_t index) const { return {name, path + "[" + std::to_string(index) + "]", root}; }
};

// Returns a whole number, which may also be text, as in proto3's JSON, or be written 8.0 or 1e3.
template <typename Integer>
Integer IntegerOf(const json& value, const Place& place) {
  using Limits = std::numeric_limits<Integer>;
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number <= static_cast<uint64_t>(Limits::max())) return static_cast<Integer>(number);
  } else if (value.is_number_integer()) {
    const int64_t number = value.get<int64_t>();
    if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    // 2^digits is exact as a double; max() is not.
    const double end = std::ldexp(1.0, Limits::digits);
    const double low = Limits::is_signed ? -end : 0.0;
    if (number == std::floor(number) && number >= low && number < end) {
      return static_cast<Integer>(number);
    }
    if (number == std::floor(number)) place.Fail(value, "a number that fits the field");
    place.Fail(value, "a whole number");
  } else if (value.is_string()) {
    if (const auto number = ParseNumber<Integer>(value.get<std::string>())) return *number;
    place.Fail(value, "a whole number");
  } else {
    place.Fail(value, "a whole number");
  }
  place.Fail(value, "a whole number from " + std::to_string(Limits::min()) + " to " +
                        std::to_string(Limits::max()));
}

double DoubleOf(const json& value, const Place& place, double limit) {
  if (!value.is_number()) place.Fail(value, "a number");
  const double number = value.get<double>();
  if (!(std::abs(number) <= limit)) place.Fail(value, "a finite number that fits the field");
  return number;
}

std::string StringOf(const json& value, const Place& place) {
  if (!value.is_string()) {
    place.Fail(value, value.is_primitive() ? "text; put it in quotes" : "text");
  }
  return value.get<std::string>();
}

std::string EnumFolded(std::string name) {
  for (char& c : name) {
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

const EnumValueDescriptor* EnumOf(const json& value, const Place& place,
                                  const FieldDescriptor* field) {
  const auto* type = field->enum_type();
  std::vector<std::string> known;
  const std::string wanted = value.is_string() ? EnumFolded(value.get<std::string>()) : "";
  for (int i = 0; i < type->value_count(); ++i) {
    const EnumValueDescriptor* candidate = type->value(i);
    if (value.is_string() && EnumFolded(candidate->name()) == wanted) return candidate;
    if (value.is_number_integer() && value == candidate->number()) return candidate;
    // A user cannot choose the value that stands for "not given".
    if (!candidate->name().ends_with("_UNSPECIFIED")) known.push_back(candidate->name());
  }
  place.Fail(value, "one of " + Join(known, ", "));
}

void FillMessage(const json& value, const Place& place, Message* message);

// Fills the message that holds any value. `value` holds at most as many nested lists and maps as
// the parsers of JSON and YAML admit.
void FillAny(const json& value, const Place& place, google::protobuf::Value* any) {
  if (value.is_null()) {
    any->set_null_value(google::protobuf::NULL_VALUE);
  } else if (value.is_boolean()) {
    any->set_bool_value(value.get<bool>());
  } else if (value.is_number()) {
    // The message holds doubles: whole numbers beyond 2^53 would be changed.
    constexpr double kMostExact = 9007199254740992.0;
    if (value.is_number_integer() && std::abs(value.get<double>()) >= kMostExact) {
      place.Fail(value, "a whole number below 2^53; put larger ones in quotes");
    }
    any->set_number_value(DoubleOf(value, place, std::numeric_limits<double>::max()));
  } else if (value.is_string()) {
    any->set_string_value(value.get<std::string>());
  } else if (value.is_array()) {
    google::protobuf::ListValue* const list = any->mutable_list_value();
    for (size_t i = 0; i < value.size(); ++i) {
      FillAny(value[i], place.At(i), list->add_values());
    }
  } else {
    auto& fields = *any->mutable_struct_value()->mutable_fields();
    for (const auto& [key, item] : value.items()) FillAny(item, place.Key(key), &fields[key]);
  }
}

// Sets a singular field, or appends to a repeated one.
void SetValue(const json& value, const Place& place, const FieldDescriptor* field,
              Message* message) {
  const Reflection* r = message->GetReflection();
  const bool many = field->is_repeated();
  const auto put = [&](auto set, auto add, auto number) {
    if (many) {
      (r->*add)(message, field, number);
    } else {
      (r->*set)(message, field, number);
    }
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put(&Reflection::SetInt32, &Reflection::AddInt32, IntegerOf<int32_t>(value, place));
    case FieldDescriptor::CPPTYPE_INT64:
      return put(&Reflection::SetInt64, &Reflection::AddInt64, IntegerOf<int64_t>(value, place));
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(&Reflection::SetUInt32, &Reflection::AddUInt32, IntegerOf<uint32_t>(value, place));
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(&Reflection::SetUInt64, &Reflection::AddUInt64, IntegerOf<uint64_t>(value, place));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return put(&Reflection::SetDouble, &Reflection::AddDouble,
                 DoubleOf(value, place, std::numeric_limits<double>::max()));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return put(&Reflection::SetFloat, &Reflection::AddFloat,
                 static_cast<float>(DoubleOf(value, place, std::numeric_limits<float>::max())));
    case FieldDescriptor::CPPTYPE_BOOL:
      if (!value.is_boolean()) place.Fail(value, "true or false");
      return put(&Reflection::SetBool, &Reflection::AddBool, value.get<bool>());
    case FieldDescriptor::CPPTYPE_ENUM:
      return put(&Reflection::SetEnum, &Reflection::AddEnum, EnumOf(value, place, field));
    case FieldDescriptor::CPPTYPE_STRING:
      if (field->type() == FieldDescriptor::TYPE_BYTES) {
        place.Fail(value, "no such key: raw bytes need .textproto or .pb");
      }
      return put(&Reflection::SetString, &Reflection::AddString, StringOf(value, place));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return FillMessage(value, place,
                         many ? r->AddMessage(message, field) : r->MutableMessage(message, field));
  }
}

// Keys of a map are text in JSON, whatever their type is in the .proto.
json MapKey(const std::string& key, const FieldDescriptor* field) {
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    if (key == "true") return true;
    if (key == "false") return false;
  }
  return key;
}

void FillMap(const json& value, const Place& place, const FieldDescriptor* field,
             Message* message) {
  if (!value.is_object()) place.Fail(value, "a map");
  const Descriptor* entry_type = field->message_type();
  for (const auto& [key, item] : value.items()) {
    Message* entry = message->GetReflection()->AddMessage(message, field);
    const Place inside = place.Key(key);
    SetValue(MapKey(key, entry_type->map_key()), inside, entry_type->map_key(), entry);
    SetValue(item, inside, entry_type->map_value(), entry);
  }
}

const FieldDescriptor* FindField(const Descriptor* type, const std::string& key,
                                 const Place& place) {
  std::vector<std::string> known;
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    if (key == field->name() || key == field->json_name()) return field;
    known.push_back(field->name());
  }
  const std::string unknown = "unknown key " + Shown(json(key));
  if (place.path.empty()) {
    const std::string kind = KindOfJson(*place.root), wanted = NounOfMessage(type->name());
    if (!kind.empty() && kind != wanted) {
      throw InputError(place.name + ": " + unknown + ": the file is " + kind + ", want " + wanted);
    }
  }
  const std::string suggestion = NearestNames(key, known);
  throw InputError(place.name + ": " + (place.path.empty() ? "" : place.path + ": ") + unknown +
                   (suggestion.empty() ? "" : "; ") + suggestion);
}

void FillField(const json& value, const Place& place, const FieldDescriptor* field,
               Message* message) {
  if (value.is_null()) return;  // as in proto3's JSON: the default
  const Reflection* reflection = message->GetReflection();
  const bool given_before = field->is_repeated() ? reflection->FieldSize(*message, field) > 0
                                                 : reflection->HasField(*message, field);
  if (given_before) place.Fail(value, "the key once, under one of its two names");
  if (const auto* group = field->real_containing_oneof();
      group != nullptr && reflection->HasOneof(*message, group)) {
    place.Fail(value, "only one of the keys of " + group->name());
  }
  if (field->is_map()) return FillMap(value, place, field, message);
  if (!field->is_repeated()) return SetValue(value, place, field, message);
  if (!value.is_array()) place.Fail(value, "a list");
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i].is_null()) place.At(i).Fail(value[i], "a value");
    SetValue(value[i], place.At(i), field, message);
  }
}

void FillMessage(const json& value, const Place& place, Message* message) {
  if (auto* any = dynamic_cast<google::protobuf::Value*>(message)) {
    return FillAny(value, place, any);
  }
  if (!value.is_object()) {
    place.Fail(value, "a map with the keys of " + NounOfMessage(message->GetDescriptor()->name()));
  }
  if (auto* fields = dynamic_cast<google::protobuf::Struct*>(message)) {
    for (const auto& [key, item] : value.items()) {
      FillAny(item, place.Key(key), &(*fields->mutable_fields())[key]);
    }
    return;
  }
  for (const auto& [key, item] : value.items()) {
    const FieldDescriptor* field = FindField(message->GetDescriptor(), key, place);
    FillField(item, place.Key(field->name()), field, message);
  }
}

}  // namespace

void JsonToProto(const json& value, const std::string& name, Message* message) {
  FillMessage(value, Place{name, "", &value}, message);
}

}  // namespace stagecraft
