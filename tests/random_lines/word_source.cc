#include "tests/random_lines/word_source.h"

namespace stagecraft::random_lines {
namespace {

// What people and scripts type in place of a number or a name. None of the numbers is a batch that
// would take minutes to simulate.
const std::vector<std::string>& OddWords() {
  static const std::vector<std::string> words = {"",
                                                 "0",
                                                 "-1",
                                                 "3",
                                                 "7",
                                                 "0.5",
                                                 "1e3",
                                                 "1e-300",
                                                 "1e999",
                                                 "nan",
                                                 "inf",
                                                 "-inf",
                                                 "4M",
                                                 "8k",
                                                 "10min",
                                                 "50%",
                                                 "1,2",
                                                 "1,,2",
                                                 "2x",
                                                 "x8",
                                                 "99999999999",
                                                 "9223372036854775807",
                                                 "9223372036854775808",
                                                 "-9223372036854775808",
                                                 "999999999999999999999999",
                                                 "none",
                                                 "all",
                                                 "auto",
                                                 "none.yaml",
                                                 "absent/file.json",
                                                 ".",
                                                 "/",
                                                 "/dev/null",
                                                 "\xff\xfe",
                                                 "two words",
                                                 "line\nbreak",
                                                 "--",
                                                 "-",
                                                 "-x",
                                                 "--tp",
                                                 "--json",
                                                 "--json=1",
                                                 "--help",
                                                 "h100-sxm:1x9",
                                                 "h100-sxm:0x8",
                                                 "h100-sxm:-1x8",
                                                 "h100-sxm:1x8+",
                                                 "h1000:1x8",
                                                 "megatron:0x1x1",
                                                 "megatron:4x255x4",
                                                 "megatron:99999999x8x8",
                                                 "gpt-4",
                                                 "resnet50@0"};
  return words;
}

const std::vector<std::string>& UnknownFlags() {
  static const std::vector<std::string> flags = {"--tensor-model-parallel-size",
                                                 "--mtbf",
                                                 "--steps",
                                                 "--top",
                                                 "--price",
                                                 "--budget",
                                                 "-o",
                                                 "-v",
                                                 "--verbose",
                                                 "--max-error"};
  return flags;
}

}  // namespace

void WordSource::Spoil() {
  const size_t at = words_.empty() ? 0 : static_cast<size_t>(Below(words_.size()));
  switch (words_.empty() ? 4 : Below(7)) {
    case 0:
      words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at), words_[at]);
      return;
    case 2:
      std::swap(words_[at], words_[static_cast<size_t>(Below(words_.size()))]);
      return;
    case 3:
      words_[at] = std::string(10'000, 'a');
      return;
    case 4:
      Add(OneOf(UnknownFlags()), OneOf(OddWords()));
      return;
    default:
      words_[at] = OneOf(OddWords());
  }
}

}  // namespace stagecraft::random_lines
