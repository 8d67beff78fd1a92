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

// Collects cases in the order in which they come, each once, and none that the device or the time
// rules out.
class SuiteBuilder {
 public:
  explicit SuiteBuilder(const SuiteOptions& options) : options_(options) {}

  // False if the case was not taken.
  bool Add(Op op, std::string_view kernel);
  const SuiteOptions& options() const { return options_; }
  bool is_full() const { return options_.size == SuiteSize::kFull; }
  std::vector<ProfileCase> Take() { return std::move(cases_); }

 private:
  const SuiteOptions& options_;
  std::vector<ProfileCase> cases_;
  std::unordered_set<ProfileCase> seen_;
};

// The least time that arithmetic and memory allow; Duration::Max() if the device has no rate for
// the format of the op.
Duration LeastTime(const Op& op, const Device& device);

void AddProducts(SuiteBuilder& suite);   // at points that fill the space of sizes
void AddLayers(SuiteBuilder& suite);     // GEMMs of the networks
void AddAttention(SuiteBuilder& suite);  // of networks, and others
void AddStreams(SuiteBuilder& suite);    // elementwise, norms, softmax, optimizer, copies
void AddHostCopies(SuiteBuilder& suite);
void AddHostOps(SuiteBuilder& suite);  // all of these, for the CPU of a host

}  // namespace stagecraft
