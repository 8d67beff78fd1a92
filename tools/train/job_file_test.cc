#include "tools/train/job_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

class JobFileTest : public testing::Test {
 protected:
  JobFileTest() { std::filesystem::create_directories(folder_); }
  ~JobFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder_ + name, text);
    return folder_ + name;
  }
  // The error of a job with this text, after its path.
  std::string Error(const std::string& text) const {
    const std::string path = Write("job.yaml", text);
    const std::string error = ErrorOf([&] { ReadJobFile(path); });
    EXPECT_EQ(error.find(path + ": "), 0u) << error;
    return error.substr(path.size() + 2);
  }

  const std::string folder_ = testing::TempDir() + "job_file_test/";
};

TEST_F(JobFileTest, PartsAreInTheFileOrInFilesBesideIt) {
  Write("plan.yaml", "{degrees: {pp: 2}, micro_batch: 1, global_batch: 2, sequence: 8}\n");
  Write("cluster.yaml", "anything");
  const std::string path =
      Write("job.yaml",
            "{model: llama3-70b, cluster: cluster.yaml, plan_file: plan.yaml, steps: 7,\n"
            " dynamics: {states: states.csv}, events: {nodes_per_rack: 3}}\n");
  const JobFile job = ReadJobFile(path);
  EXPECT_EQ(job.model, "llama3-70b");
  EXPECT_EQ(job.cluster, folder_ + "cluster.yaml");
  EXPECT_EQ(job.proto.steps(), 7);
  ASSERT_TRUE(job.plan && job.dynamics && job.events);
  EXPECT_EQ(job.plan->name, folder_ + "plan.yaml");
  EXPECT_EQ(job.plan->proto.degrees().pp(), 2);
  EXPECT_EQ(job.dynamics->name, path + ": dynamics");
  EXPECT_EQ(job.dynamics->folder + "/", folder_);
  EXPECT_EQ(job.events->proto.nodes_per_rack(), 3);
  EXPECT_EQ(job.files, (std::vector<std::string>{path, folder_ + "plan.yaml"}));
}

TEST_F(JobFileTest, WhatIsAbsentStaysAbsent) {
  const JobFile job = ReadJobFile(Write("job.yaml", "steps: 7\n"));
  EXPECT_EQ(job.model, "");
  EXPECT_FALSE(job.plan || job.dynamics || job.events);
}

TEST_F(JobFileTest, MistakesAreNamedInOneSentence) {
  EXPECT_EQ(Error("steps: -1\n"), "steps: got -1, want from 1 to 1e12");
  EXPECT_EQ(Error("balance: {noise: 11}\n"), "balance.noise: got 11, want from 0 to 10");
  EXPECT_EQ(Error("balance: {profiling_share: 1}\n"),
            "balance.profiling_share: got 1, want from 0 to below 1");
  EXPECT_EQ(Error("balance: {repack_loss: 0.1}\n"),
            "balance.repack_loss: got 0.1, want it with `repacks` only");
  EXPECT_EQ(Error("checkpoint: {interval_s: 60}\n"),
            "checkpoint.storage_bytes_per_s: got 0, want above 0, at most 1e15");
  EXPECT_EQ(Error("checkpoint: {interval_s: -1, storage_bytes_per_s: 1}\n"),
            "checkpoint.interval_s: got -1, want seconds from 0 to those of 100 years");
  EXPECT_EQ(Error("checkpoint: {storage_bytes_per_s: 1, slowdown: 0.5}\n"),
            "checkpoint.slowdown: got 0.5, want it with `is_asynchronous` only");
  EXPECT_EQ(Error("recovery: {policy: SPARE}\n"),
            "recovery.spare_nodes: got 0, want from 1 to 1000000 with SPARE");
  EXPECT_EQ(Error("recovery: {policy: SHRINK, spare_nodes: 2}\n"),
            "recovery.spare_nodes: got 2, want them with SPARE only");
  EXPECT_EQ(Error("recovery: {restart_s: 1e7}\n"),
            "recovery.restart_s: got 10000000, want seconds from 0 to 1e6");
  EXPECT_EQ(Error("plan: {}\nplan_file: plan.yaml\n").find("plan_file: got "), 0u);
}

TEST_F(JobFileTest, PartsAreCheckedAgainstTheNetworkAndTheCluster) {
  const Workload workload = LoadWorkload("megatron:8x64x4", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const auto error = [&](const std::string& text) {
    const std::string path = Write("job.yaml", text);
    return ErrorOf([&] { CheckJobFile(ReadJobFile(path), workload, cluster); });
  };
  const std::string path = folder_ + "job.yaml";
  EXPECT_EQ(error("dynamics: {freezing: {interval: 0, blocks_each: 1, most_blocks: 2}}\n")
                .find(path + ": dynamics: freezing.interval: got 0"),
            0u);
  EXPECT_EQ(error("events: {events: [{at_s: 1, node: node9, what: FAIL}]}\n")
                .find(path + ": events: events[0].node: got "),
            0u);
  EXPECT_EQ(error("plan: {degrees: {tp: 3}, micro_batch: 1, global_batch: 2, sequence: 8}\n")
                .find(path + ": plan: "),
            0u);
  EXPECT_EQ(error("dynamics: {states: none.csv}\n").find(folder_ + "none.csv: "), 0u);
}

}  // namespace
}  // namespace stagecraft
