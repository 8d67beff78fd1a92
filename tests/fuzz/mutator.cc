#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stagecraft::fuzz {
namespace {

constexpr size_t kMostBytes = size_t{64} << 10;
constexpr int64_t kMostChanges = 4;
constexpr int64_t kMostRepeatedBytes = 64;

// Signs, limits of the types of numbers and their neighbours, what is not a number, and sizes that
// are a thousand or a million times too large or too small for their unit.
constexpr std::array<std::string_view, 32> kNumbers = {"0",
                                                       "1",
                                                       "2",
                                                       "3",
                                                       "4",
                                                       "7",
                                                       "8",
                                                       "16",
                                                       "64",
                                                       "1000",
                                                       "1024",
                                                       "-1",
                                                       "-8",
                                                       "0.5",
                                                       "1e-9",
                                                       "1e9",
                                                       "1e12",
                                                       "1e15",
                                                       "1e18",
                                                       "1e300",
                                                       "1e999",
                                                       "1e-300",
                                                       "nan",
                                                       "inf",
                                                       "2147483647",
                                                       "2147483648",
                                                       "4294967296",
                                                       "9223372036854775807",
                                                       "9223372036854775808",
                                                       "18446744073709551615",
                                                       "999999999999999999999",
                                                       ""};

struct Part {
  size_t begin = 0;
  size_t end = 0;
};

size_t Below(size_t count, Random& random) {
  return static_cast<size_t>(random.Integer(0, static_cast<int64_t>(count) - 1));
}

template <typename T>
const T& OneOf(std::span<const T> choices, Random& random) {
  return choices[Below(choices.size(), random)];
}

// Returns the longest runs of characters that `belongs` accepts.
template <typename Belongs>
std::vector<Part> RunsOf(std::string_view text, const Belongs& belongs) {
  std::vector<Part> runs;
  for (size_t i = 0; i < text.size();) {
    if (!belongs(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && belongs(static_cast<unsigned char>(text[i]))) ++i;
    runs.push_back({begin, i});
  }
  return runs;
}

std::vector<Part> Numbers(std::string_view text) {
  return RunsOf(text, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
}

std::vector<Part> Words(std::string_view text) {
  return RunsOf(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// Returns the lines of a text, each with its line break.
std::vector<Part> Lines(std::string_view text) {
  std::vector<Part> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back({begin, end});
    begin = end;
  }
  return lines;
}

void Replace(const Part& part, std::string_view with, std::string* text) {
  text->replace(part.begin, part.end - part.begin, with);
}

void FlipBit(std::string* text, Random& random) {
  if (text->empty()) return;
  char& c = (*text)[Below(text->size(), random)];
  c = static_cast<char>(c ^ (1 << random.Integer(0, 7)));
}

void InsertByte(std::string* text, Random& random) {
  const size_t at = Below(text->size() + 1, random);
  text->insert(at, 1, static_cast<char>(random.Integer(0, 255)));
}

void RemoveBytes(std::string* text, Random& random) {
  if (text->empty()) return;
  const size_t at = Below(text->size(), random);
  text->erase(at, static_cast<size_t>(random.Integer(1, 8)));
}

void RepeatBytes(std::string* text, Random& random) {
  if (text->empty()) return;
  const size_t at = Below(text->size(), random);
  const auto count = static_cast<size_t>(random.Integer(1, kMostRepeatedBytes));
  text->insert(at, text->substr(at, count));
}

void CutOff(std::string* text, Random& random) { text->resize(Below(text->size() + 1, random)); }

void RemoveLine(std::string* text, Random& random) {
  const std::vector<Part> lines = Lines(*text);
  if (!lines.empty()) Replace(OneOf<Part>(lines, random), "", text);
}

void RepeatLine(std::string* text, Random& random) {
  const std::vector<Part> lines = Lines(*text);
  if (lines.empty()) return;
  const Part& line = OneOf<Part>(lines, random);
  const std::string copy = text->substr(line.begin, line.end - line.begin);
  text->insert(OneOf<Part>(lines, random).begin, copy);
}

void ExchangeLines(std::string* text, Random& random) {
  const std::vector<Part> lines = Lines(*text);
  if (lines.size() < 2) return;
  const size_t first = Below(lines.size() - 1, random);
  const Part& a = lines[first];
  const Part& b = lines[first + 1];
  const std::string exchanged =
      text->substr(b.begin, b.end - b.begin) + text->substr(a.begin, a.end - a.begin);
  Replace({a.begin, b.end}, exchanged, text);
}

void ReplaceNumber(std::string* text, Random& random) {
  const std::vector<Part> numbers = Numbers(*text);
  if (numbers.empty()) return;
  const Part& number = OneOf<Part>(numbers, random);
  Replace(number, OneOf<std::string_view>(kNumbers, random), text);
}

void ReplaceWord(std::span<const std::string> seeds, std::string* text, Random& random) {
  const std::string& source = OneOf<std::string>(seeds, random);
  const std::vector<Part> from = Words(source);
  const std::vector<Part> to = Words(*text);
  if (from.empty() || to.empty()) return;
  const Part& word = OneOf<Part>(from, random);
  const Part& place = OneOf<Part>(to, random);
  Replace(place, std::string_view(source).substr(word.begin, word.end - word.begin), text);
}

void Change(std::span<const std::string> seeds, std::string* text, Random& random) {
  switch (random.Integer(0, 11)) {
    case 0:
      return FlipBit(text, random);
    case 1:
      return InsertByte(text, random);
    case 2:
      return RemoveBytes(text, random);
    case 3:
      return RepeatBytes(text, random);
    case 4:
      return CutOff(text, random);
    case 5:
      return RemoveLine(text, random);
    case 6:
      return RepeatLine(text, random);
    case 7:
      return ExchangeLines(text, random);
    case 8:
    case 9:
      return ReplaceNumber(text, random);
    default:
      return ReplaceWord(seeds, text, random);
  }
}

}  // namespace

std::string Mutate(std::span<const std::string> seeds, Random random) {
  std::string text = OneOf<std::string>(seeds, random);
  const int64_t changes = random.Integer(1, kMostChanges);
  for (int64_t change = 0; change < changes; ++change) Change(seeds, &text, random);
  if (text.size() > kMostBytes) text.resize(kMostBytes);
  return text;
}

}  // namespace stagecraft::fuzz
