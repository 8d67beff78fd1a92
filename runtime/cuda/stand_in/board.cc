#include "runtime/cuda/stand_in/board.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr const char* kPlace = "STAGECRAFT_STAND_IN: ";

[[noreturn]] void RefuseWord(const std::string& word, const std::string& want) {
  throw InputError(kPlace + ("got \"" + word + "\", want " + want));
}

int Number(const std::string& word, std::string_view value) {
  const std::optional<int> number = ParseNumber<int>(value);
  if (!number || *number < 0) RefuseWord(word, "a number that is not below zero");
  return *number;
}

// Sets what the word KEY=VALUE says.
using Setter = void (*)(const std::string& word, std::string_view value, StandInBoard& board);

template <int StandInBoard::*field>
void SetNumber(const std::string& word, std::string_view value, StandInBoard& board) {
  board.*field = Number(word, value);
}

template <size_t StandInBoard::*field>
void SetMebibytes(const std::string& word, std::string_view value, StandInBoard& board) {
  constexpr int kMebibyteBits = 20;
  board.*field = static_cast<size_t>(Number(word, value)) << kMebibyteBits;
}

template <bool StandInBoard::*claim>
void SetClaim(const std::string& word, std::string_view value, StandInBoard& board) {
  if (value != "yes" && value != "no") RefuseWord(word, "yes or no");
  board.*claim = value == "yes";
}

void SetData(const std::string& word, std::string_view value, StandInBoard& board) {
  if (value == "yes")
    board.data = StandInData::kCalculated;
  else if (value == "checked")
    board.data = StandInData::kChecked;
  else if (value == "no")
    board.data = StandInData::kIgnored;
  else
    RefuseWord(word, "yes, checked or no");
}

void SetMissing(const std::string&, std::string_view value, StandInBoard& board) {
  board.missing.insert(std::string(value));
}

void SetFailure(const std::string& word, std::string_view value, StandInBoard& board) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) RefuseWord(word, "fail=FUNCTION:NTH");
  board.fails = {std::string(value.substr(0, colon)), Number(word, value.substr(colon + 1))};
}

void SetName(const std::string&, std::string_view value, StandInBoard& board) {
  board.name = value;
  std::replace(board.name.begin(), board.name.end(), '_', ' ');
}

struct Field {
  std::string_view key;
  Setter set;
};
constexpr Field kFields[] = {
    {"boards", SetNumber<&StandInBoard::boards>},
    {"groups", SetNumber<&StandInBoard::groups>},
    {"rest", SetNumber<&StandInBoard::rest>},
    {"watts", SetNumber<&StandInBoard::watts>},
    {"call", SetNumber<&StandInBoard::call_nanoseconds>},
    {"memory", SetMebibytes<&StandInBoard::memory>},
    {"cache", SetMebibytes<&StandInBoard::cache>},
    {"green-contexts", SetClaim<&StandInBoard::has_green_contexts>},
    {"driver-is-old", SetClaim<&StandInBoard::driver_is_old>},
    {"graphs-keep-to-parts", SetClaim<&StandInBoard::graphs_keep_to_parts>},
    {"cudnn-compares-contexts", SetClaim<&StandInBoard::cudnn_compares_contexts>},
    {"cudnn-refuses-parts", SetClaim<&StandInBoard::cudnn_refuses_parts>},
    {"cudnn-knows-parts", SetClaim<&StandInBoard::cudnn_knows_parts>},
    {"throttled", SetClaim<&StandInBoard::is_throttled>},
    {"data", SetData},
    {"missing", SetMissing},
    {"fail", SetFailure},
    {"name", SetName}};

}  // namespace

StandInBoard CheckedBoard() {
  StandInBoard board;
  board.data = StandInData::kChecked;
  return board;
}

StandInBoard ParseStandInBoard(std::string_view words) {
  StandInBoard board;
  std::istringstream in{std::string(words)};
  for (std::string word; in >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = std::string_view(word).substr(0, equals);
    const std::string_view value = std::string_view(word).substr(std::min(equals + 1, word.size()));
    const auto* const field = std::find_if(std::begin(kFields), std::end(kFields),
                                           [&](const Field& one) { return one.key == key; });
    if (field == std::end(kFields)) RefuseWord(word, "a field of a board");
    field->set(word, value, board);
  }
  return board;
}

}  // namespace stagecraft
