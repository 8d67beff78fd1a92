// The parts of a suite, one for each family of kernels.
#pragma once

#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "runtime/profile/profile_case.h"
#include "runtime/profile/profile_suite.h"

namespace stagecraft {

// SuiteBuilder collects cases in the order in which they are added, each once, and leaves out those
// that are too large or take too long.
class SuiteBuilder {
 public:
  explicit SuiteBuilder(const SuiteOptions& options) : options_(options) {}

  // Adds a case; returns false if it was left out.
  bool Add(Op op, std::string_view kernel);
  const SuiteOptions& options() const { return options_; }
  bool is_full() const { return options_.size == SuiteSize::kFull; }
  std::vector<ProfileCase> Take() { return std::move(cases_); }

 private:
  const SuiteOptions& options_;
  std::vector<ProfileCase> cases_;
  std::unordered_set<ProfileCase> seen_;
};

// Returns the least time that arithmetic and memory allow; Duration::Max() if the device has no
// rate for the format of the op.
Duration LeastTime(const Op& op, const Device& device);

void AddProducts(SuiteBuilder& suite);   // GEMMs of sizes that fill the space
void AddLayers(SuiteBuilder& suite);     // GEMMs of the networks
void AddAttention(SuiteBuilder& suite);  // of the networks, and others
void AddStreams(SuiteBuilder& suite);    // elementwise, norms, softmax, optimizer, copies
void AddHostCopies(SuiteBuilder& suite);
void AddHostOps(SuiteBuilder& suite);  // all of these for the CPU of a host

}  // namespace stagecraft
