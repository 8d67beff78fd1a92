// MeasuredNetworks: facts that tables of measured collectives state in words, or not at all.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/network/network_sample.h"

namespace stagecraft {

// The columns of a row that say what its network was.
struct MeasuredPlace {
  std::string source, system, fabric, software;
  std::string node;  // the column node_id; may be empty
};

// Immutable; may be used from any thread.
class MeasuredNetworks {
 public:
  // All interfaces of one node, one direction.
  struct Interfaces {
    Link link;
    bool is_stated = true;  // false: no source says what it was, and the link bounds nothing
  };

  // Returns the data/measured_networks.textproto in the binary, which is read at the first call.
  static const MeasuredNetworks& Embedded();
  // Reads a MeasuredNetworksProto in text format. Throws an InputError that begins with `name`.
  static MeasuredNetworks Parse(const std::string& text, const std::string& name);

  // Returns the network between the nodes, by the first part of `place.fabric` that is known or
  // that network_words.h understands; " + " separates parts. Its kind may follow from the node.
  // Throws an InputError that begins with `row` if none is known.
  Interfaces Between(const MeasuredPlace& place, const std::string& row) const;

  // Returns how many NVLinks join the two ranks of a group; 0 if it is not known.
  int LinksOfPair(const MeasuredPlace& place) const;
  // Returns how many devices of a node share its interfaces, in groups of one shape that fill the
  // node; 0 if groups run alone.
  int SharingDevices(const MeasuredPlace& place) const;

  // What a source times; the collective alone if nothing is known of the source.
  Timing TimingOf(std::string_view source) const;
  // Whether a source's all-gathers and reduce-scatters copy between a list of tensors and a flat
  // buffer.
  bool CopiesLists(std::string_view source) const;
  // Returns the site of a row: machines, network and software that are one.
  std::string Site(const MeasuredPlace& place) const;

 private:
  Interfaces ByWords(const std::string& fabric, const std::string& row) const;

  struct Node {
    std::string fabric, node;  // empty: any
    int links_of_pair = 0, sharing_devices = 0;
    std::optional<NetworkKind> network;
    bool Holds(const MeasuredPlace& place) const;
  };
  struct Source {
    Timing timing = Timing::kCollective;
    bool copies_lists = false;
    std::vector<std::string> site;  // columns
  };

  std::map<std::string, Interfaces, std::less<>> networks_;
  std::vector<Node> nodes_;
  std::map<std::string, Source, std::less<>> sources_;
};

}  // namespace stagecraft
