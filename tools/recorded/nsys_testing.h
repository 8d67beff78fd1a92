// Exports of Nsight Systems of our own making, for tests.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <string>

namespace stagecraft {

struct NsysShape {
  int ranks = 2;
  int steps = 3;
  std::string product_kernel = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT";
  std::string attention_kernel =
      "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
      "cutlass::bfloat16_t>, false, true, false, false, true, true>(flash::Flash_fwd_params)";
  bool has_sizes = true;         // of operators
  bool has_payloads = true;      // of NCCL's ranges
  bool has_communicator = true;  // whether the call that makes it was recorded
  bool is_grouped = false;       // whether ncclGroupEnd launches the collective
};

// Writes an export of a job whose ranks, one process each, run in every step, in "iteration N", a
// product of 4096 x 3584 x 8192 (300 us), attention of 2 sequences of 1024 tokens with 8 heads of
// 128 and 2 of keys (50 us), and an all-reduce of 64 MiB of all ranks (rank 0: 700 us, each further
// rank 100 us more). A step takes 2 ms.
class NsysExport {
 public:
  NsysExport(const NsysShape& shape, const std::string& path) : shape_(shape) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &file_), SQLITE_OK);
    Do("CREATE TABLE StringIds(id INTEGER, value TEXT)");
    Do("CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT)");
    Do("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, "
       "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
       "shortName INTEGER)");
    Do("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, globalTid INTEGER, correlationId "
       "INTEGER)");
    Do("CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId "
       "INTEGER, globalTid INTEGER, jsonText TEXT, jsonTextId INTEGER)");
    Name(kProduct, shape.product_kernel);
    Name(kAttention, shape.attention_kernel);
    Name(kReduce, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  }
  ~NsysExport() { sqlite3_close(file_); }
  NsysExport(const NsysExport&) = delete;
  NsysExport& operator=(const NsysExport&) = delete;

  void Write() {
    for (rank_ = 0; rank_ < shape_.ranks; ++rank_) {
      Do(fmt::format("INSERT INTO TARGET_INFO_GPU VALUES({},'NVIDIA H100 80GB HBM3')", rank_));
      if (shape_.has_communicator) {
        Range("ncclCommInitRankConfig", 0, 5,
              fmt::format(R"("No. of ranks": {}, "Rank": {})", shape_.ranks, rank_));
      }
      for (int step = 0; step < shape_.steps; ++step) WriteStep(step, 10 + 2000 * step);
    }
  }

 private:
  static constexpr int kProduct = 1, kAttention = 2, kReduce = 3;
  static constexpr int kCompute = 7, kNccl = 20;

  void Do(const std::string& statement) {
    EXPECT_EQ(sqlite3_exec(file_, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(file_);
  }
  void Name(int id, const std::string& name) {
    Do(fmt::format("INSERT INTO StringIds VALUES({},'{}')", id, name));
  }
  int64_t Process() const { return (100 + rank_) * int64_t{0x1000000}; }

  // Times are in microseconds.
  void Range(const std::string& text, int64_t start, int64_t end, const std::string& payload = "") {
    const std::string json = payload.empty() || !shape_.has_payloads
                                 ? "NULL"
                                 : fmt::format(R"('{{"NCCL communicator ID": 77, {}}}')", payload);
    Do(fmt::format("INSERT INTO NVTX_EVENTS VALUES({}000,{}000,59,'{}',NULL,{},{},NULL)", start,
                   end, text, Process() + 5, json));
  }
  void Kernel(int name, int stream, int64_t launch, int64_t start, int64_t time) {
    ++correlation_;
    Do(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({}000,{},{})", launch,
                   Process() + 5, correlation_));
    Do(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({}000,{}000,{},{},{},{},{},{})",
                   start, start + time, rank_, stream, correlation_, Process(), name, name));
  }

  void WriteStep(int step, int64_t at) {
    const std::string sizes = shape_.has_sizes ? ", sizes = [[4096, 8192], [8192, 3584]]" : "";
    const std::string heads =
        shape_.has_sizes
            ? ", sizes = [[2, 8, 1024, 128], [2, 2, 1024, 128], [2, 2, 1024, 128], [], [], []]"
            : "";
    Range(fmt::format("iteration {}", step), at, at + 1999);
    Range(fmt::format("aten::mm, seq = {}{}", 2 * step, sizes), at + 10, at + 20);
    Kernel(kProduct, kCompute, at + 12, at + 100, 300);
    Range(fmt::format("aten::_scaled_dot_product_flash_attention, seq = {}{}", 2 * step + 1, heads),
          at + 30, at + 40);
    Kernel(kAttention, kCompute, at + 32, at + 420, 50);
    const std::string message = R"("Message size [bytes]": 67108864)";
    if (shape_.is_grouped) Range("ncclGroupStart", at + 50, at + 51);
    Range("ncclAllReduce", at + 52, at + 56, message);
    if (shape_.is_grouped) Range("ncclGroupEnd", at + 57, at + 60);
    Kernel(kReduce, kNccl, at + (shape_.is_grouped ? 58 : 54), at + 500, 700 + 100 * rank_);
  }

  const NsysShape shape_;
  sqlite3* file_ = nullptr;
  int rank_ = 0;
  int correlation_ = 0;
};

}  // namespace stagecraft
