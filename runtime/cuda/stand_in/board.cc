#include "runtime/cuda/stand_in/board.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr const char* kPlace = "STAGECRAFT_STAND_IN: ";

[[noreturn]] void RefuseWord(const std::string& word, const std::string& want) {
  throw InputError(kPlace + ("got \"" + word + "\", want " + want));
}

int Number(const std::string& word, std::string_view value) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 0) {
    RefuseWord(word, "a number that is not below zero");
  }
  return number;
}

bool YesOrNo(const std::string& word, std::string_view value) {
  if (value != "yes" && value != "no") RefuseWord(word, "yes or no");
  return value == "yes";
}

void SetData(const std::string& word, std::string_view value, StandInBoard& board) {
  if (value != "yes" && value != "checked" && value != "no") {
    RefuseWord(word, "yes, checked or no");
  }
  board.has_data = value == "yes";
  board.checks_memory = value != "no";
}

FailingCall Failing(const std::string& word, std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) RefuseWord(word, "fail=FUNCTION:NTH");
  return {std::string(value.substr(0, colon)), Number(word, value.substr(colon + 1))};
}

}  // namespace

StandInBoard ParseStandInBoard(std::string_view words) {
  constexpr int kMebibyteBits = 20;
  StandInBoard board;
  const std::map<std::string_view, int*> numbers = {{"boards", &board.boards},
                                                    {"groups", &board.groups},
                                                    {"rest", &board.rest},
                                                    {"watts", &board.watts},
                                                    {"call", &board.call_time}};
  const std::map<std::string_view, size_t*> sizes = {{"memory", &board.memory},
                                                     {"cache", &board.cache}};
  const std::map<std::string_view, bool*> claims = {
      {"green-contexts", &board.has_green_contexts},
      {"graphs-keep-to-parts", &board.graphs_keep_to_parts},
      {"cudnn-compares-contexts", &board.cudnn_compares_contexts},
      {"cudnn-refuses-parts", &board.cudnn_refuses_parts},
      {"cudnn-knows-parts", &board.cudnn_knows_parts},
      {"throttled", &board.is_throttled}};
  std::istringstream in{std::string(words)};
  for (std::string word; in >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = std::string_view(word).substr(0, equals);
    const std::string_view value = std::string_view(word).substr(std::min(equals + 1, word.size()));
    if (const auto number = numbers.find(key); number != numbers.end()) {
      *number->second = Number(word, value);
    } else if (const auto size = sizes.find(key); size != sizes.end()) {
      *size->second = static_cast<size_t>(Number(word, value)) << kMebibyteBits;
    } else if (const auto claim = claims.find(key); claim != claims.end()) {
      *claim->second = YesOrNo(word, value);
    } else if (key == "data") {
      SetData(word, value, board);
    } else if (key == "missing") {
      board.missing.insert(std::string(value));
    } else if (key == "fail") {
      board.fails = Failing(word, value);
    } else if (key == "name") {
      board.name = value;
      std::replace(board.name.begin(), board.name.end(), '_', ' ');
    } else if (word == "driver=old") {
      board.is_driver_old = true;
    } else {
      RefuseWord(word, "a field of a board");
    }
  }
  return board;
}

}  // namespace stagecraft
