#include "costmodel/network/network_words.h"

#include <regex>
#include <string>
#include <vector>

#include "costmodel/usual_links.h"

namespace stagecraft {
namespace {

constexpr double kMostInterfaces = 64, kMostGbit = 1e5;

struct Word {
  const char* pattern;
  NetworkKind kind;
  double gbit = 0;  // of one interface; 0: the word says nothing of it
};

// The first that occurs counts: "100GbE RoCE" is RoCE, "gVNIC (TCP)" is the network of a cloud.
const Word kWords[] = {
    {"roce(v2)?", NetworkKind::kRoce},
    {"efa(v[0-9])?", NetworkKind::kEfa},
    {"slingshot(-?[0-9]+)?", NetworkKind::kSlingshot},
    {"omni-?path|opa", NetworkKind::kOmniPath},
    {"fdr", NetworkKind::kInfiniband, 56},
    {"edr", NetworkKind::kInfiniband, 100},
    {"hdr", NetworkKind::kInfiniband, 200},
    {"ndr", NetworkKind::kInfiniband, 400},
    {"xdr", NetworkKind::kInfiniband, 800},
    {"infiniband|ib[0-9]*", NetworkKind::kInfiniband},
    {"ena|gvnic|tcpxo?|fastsocket", NetworkKind::kCloudTcp},
    {"([0-9.]*gb|giga)e|ethernet|tcp", NetworkKind::kEthernet},
};

std::regex Compiled(const std::string& pattern) { return std::regex(pattern, std::regex::icase); }

// A rate in Gbit/s, with a count before it; bytes a second ("GB/s") are no such rate.
const char* const kRate =
    "(?:([0-9]+) ?x ?)?([0-9]+(?:\\.[0-9]+)?) ?G(?:b(?:it)?(?:/s|ps)?|bE)?(?![a-z/])";
const char* const kCount = "([0-9]+) ?x";

// A word for a kind stands between other characters than letters, or right before a rate: "IB100G".
std::regex OfKind(const Word& word) {
  const std::string begin = std::string("(?:^|[^a-z])(?:[0-9]+x)?(?:") + word.pattern + ")";
  return Compiled(begin + "(?:(?![a-z])|[0-9]+G(?![a-z]))");
}

const Word* FindWord(const std::string& text) {
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> compiled;
    for (const Word& word : kWords) compiled.push_back(OfKind(word));
    return compiled;
  }();
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (std::regex_search(text, patterns[i])) return &kWords[i];
  }
  return nullptr;
}

}  // namespace

std::optional<Link> ParseNetworkWords(std::string_view words) {
  static const std::regex rate = Compiled(kRate), count_alone = Compiled(kCount);
  const std::string text(words);
  const Word* const word = FindWord(text);
  if (word == nullptr) return std::nullopt;
  double gbit = word->gbit, count = 1;
  std::smatch match;
  if (std::regex_search(text, match, rate)) {
    if (match[1].matched) count = std::stod(match[1]);
    gbit = std::stod(match[2]);
  } else if (std::regex_search(text, match, count_alone)) {
    count = std::stod(match[1]);
  }
  if (!(count >= 1 && count <= kMostInterfaces && gbit > 0 && gbit <= kMostGbit)) {
    return std::nullopt;
  }
  return Link{LinkKind::kNetwork, UsualLatency(word->kind), FromGbit(count * gbit), word->kind};
}

}  // namespace stagecraft
