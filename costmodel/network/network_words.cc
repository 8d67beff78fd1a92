#include "costmodel/network/network_words.h"

#include <regex>
#include <string>

#include "costmodel/usual_links.h"

namespace stagecraft {
namespace {

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

bool Matches(const std::string& text, const std::string& pattern, std::smatch* match = nullptr) {
  const std::regex regex(pattern, std::regex::icase);
  std::smatch ignored;
  return std::regex_search(text, match == nullptr ? ignored : *match, regex);
}

}  // namespace

std::optional<Link> ParseNetworkWords(std::string_view words) {
  const std::string text(words);
  // A count before the rate, and nothing that a rate of bytes would have.
  const std::string rate = "(?:([0-9]+) ?x ?)?([0-9]+(?:\\.[0-9]+)?) ?G(?:b(?:it)?(?:/s|ps)?|bE)?";
  for (const Word& word : kWords) {
    const std::string pattern = std::string("(?:^|[^a-z])(?:[0-9]+x)?(?:") + word.pattern + ")";
    if (!Matches(text, pattern + "(?![a-z])") && !Matches(text, pattern + "[0-9]+G(?![a-z])")) {
      continue;
    }
    double gbit = word.gbit, count = 1;
    std::smatch match;
    if (Matches(text, rate + "(?![a-z/])", &match)) {
      if (match[1].matched) count = std::stod(match[1]);
      gbit = std::stod(match[2]);
    } else if (Matches(text, "([0-9]+) ?x", &match)) {
      count = std::stod(match[1]);
    }
    if (!(count >= 1 && count <= 64 && gbit > 0 && gbit <= 1e5)) return std::nullopt;
    return Link{LinkKind::kNetwork, UsualLatency(word.kind), FromGbit(count * gbit), word.kind};
  }
  return std::nullopt;
}

}  // namespace stagecraft
