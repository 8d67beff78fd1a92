// NodeWiring: the inside of one node, with its endpoints, its one-way links, and the route between
// any two devices, known by construction. Equal nodes share one NodeWiring.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/link.h"
#include "sim/cluster/node_type.h"

namespace stagecraft {

// Returns two links in a row as one, with the lower bandwidth and its kind, and the longer latency.
Link Slower(const Link& a, const Link& b);

class NodeWiring {
 public:
  // Stands for the network outside the node, as an end of a cable.
  static constexpr int kFabric = -1;
  // Stands for the switch of a domain of several nodes.
  static constexpr int kDomainSwitch = -2;

  struct Endpoint {
    std::string name;  // "gpu3", "nvswitch", "pcie", "pcie2", "root0", "nic1"
    int device = -1;   // index within the node
  };
  struct Cable {
    int from = 0;
    int to = 0;
    Link link;
    int rail = -1;  // the interface of a cable to or from the network
  };

  // Precondition: FindErrors(type) is empty. The interfaces that serve the same device make one
  // endpoint.
  explicit NodeWiring(const NodeType& type);

  // The first endpoints are the devices, in order.
  const std::vector<Endpoint>& endpoints() const { return endpoints_; }
  const std::vector<Cable>& cables() const { return cables_; }

  // Indices of the cables on the route from one device to another.
  std::vector<int> Inside(int from, int to) const;
  // Index of the cable from a device to the switch of a domain of several nodes, and of the one
  // back.
  int ToDomainSwitch(int device) const { return up_[device]; }
  int FromDomainSwitch(int device) const { return down_[device]; }
  // Indices of the cables from a device to the network, and from the network to a device; the node
  // must have interfaces.
  std::vector<int> Leaving(int device) const;
  std::vector<int> Entering(int device) const;
  // The interface that serves a device, and how many devices each interface serves.
  int rail(int device) const { return rail_[device]; }
  std::vector<int> RailDevices() const;

  // The link that a ring over these devices has per rank and direction. There must be at least two
  // devices, in ascending order.
  Link GroupLink(std::span<const int> devices) const;
  bool SameDomain(std::span<const int> devices) const;
  // The bandwidth of the interfaces that `ranks` of the devices may use while the other devices use
  // theirs to the same degree: their share, but no more than their ports carry.
  Bandwidth SharedNics(int ranks) const;
  // The bandwidth that one message may use while `messages` leave or enter at once.
  Bandwidth MessageNics(int messages) const;

 private:
  int AddEndpoint(std::string name);
  int AddCable(int from, int to, const Link& link);
  // Adds a switch that joins devices [first, last), with half the latency on either side.
  void AddSwitch(int hub, const Link& link, int first, int last, std::vector<int>* up,
                 std::vector<int>* down);
  void AddScaleUpSwitches();
  void AddDirectCables();
  void AddPcie();
  void AddInterfaces();
  // Adds the cables between an interface and the devices that it serves, or its switch.
  void PlugInterfaces(const std::vector<int>& endpoints, const Link& outside);
  const Link& Port() const;
  // The cables between two switches of the PCIe tree.
  std::vector<int> AlongTree(int from_switch, int to_switch) const;
  int RailSwitch(int rail) const;
  // The link that a ring over these devices has through their ports and the tree above them.
  Link PcieRing(std::span<const int> devices) const;
  int& Direct(int from, int to) { return direct_[from * type_.devices + to]; }

  NodeType type_;
  int domain_ = 0;
  std::vector<Endpoint> endpoints_;
  std::vector<Cable> cables_;
  std::vector<int> up_, down_;                // device <-> its domain's switch
  std::vector<int> pcie_up_, pcie_down_;      // device <-> PCIe root or its switch
  int first_switch_ = 0;                      // endpoint of the tree's first switch
  std::vector<int> switch_up_, switch_down_;  // switch <-> root complex
  std::vector<int> across_;                   // root x root -> cable, or -1
  std::vector<int> direct_;                   // from x to -> cable, or -1
  std::vector<int> rail_;                     // device -> interface endpoint
  std::vector<int> nic_up_, nic_down_;        // device, or rail of a tree <-> interface endpoint
  std::vector<int> rail_out_, rail_in_;       // interface endpoint <-> network
  // How much ports and tree let out of each device while all devices send; zero means no limit.
  Bandwidth leaving_;
};

}  // namespace stagecraft
