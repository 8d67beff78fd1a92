#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/verb/flag_help.h"
#include "tools/verb/print_json.h"

namespace stagecraft {
namespace {

constexpr const char* kTypes[] = {"switch", "integer", "number", "text"};

nlohmann::ordered_json ToJson(const FlagEntry& flag, bool is_common) {
  return {{"names", flag.names},
          {"negations", flag.negations},
          {"group", Title(flag.topic)},
          {"type", kTypes[static_cast<int>(flag.type)]},
          {"takes_several", flag.is_list},
          {"value", flag.text.value},
          {"help", flag.text.help},
          {"range", flag.text.range},
          {"default", flag.text.usual},
          {"common", is_common},
          {"required", flag.is_required},
          {"choices", flag.choices},
          {"suggestions", flag.suggestions ? flag.suggestions() : Args()}};
}

}  // namespace

void PrintHelpJson(const HelpPage& page, std::ostream& out) {
  nlohmann::ordered_json json = {
      {"verb", page.verb}, {"purpose", page.purpose}, {"examples", page.examples}};
  json["flags"] = nlohmann::ordered_json::array();
  for (const FlagEntry& flag : page.flags)
    json["flags"].push_back(ToJson(flag, flag.is_common || !HasShortHelp(page)));
  PrintJson(std::move(json), out);
}

}  // namespace stagecraft
