#include "tools/profile/profile_journal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "costmodel/check.h"
#include "costmodel/error_of.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/proto_file.h"
#include "costmodel/usual_links.h"

namespace stagecraft {
namespace {

Sample Product(int64_t m) {
  Sample sample;
  sample.op = Op::Gemm(DType::kBf16, m, 64, 64);
  sample.gpu = "h200-sxm5-141gb";
  sample.time = m * 1_us;
  sample.spread = 0.01;
  sample.repeats = 5;
  sample.clock_hz = 1.98e9;
  sample.name = "linear";
  sample.software = "cuda 13.0, cudnn 9.19.0";
  sample.source = "stagecraft profile";
  return sample;
}

// The parameter is the extension: .csv or .pb.
class ProfileJournalTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(testing::TempDir()) / (std::string("journal") + GetParam());
    std::filesystem::remove(path_);
  }
  std::string Bytes() const { return ReadFile(path_); }
  std::string path_;
};

TEST_P(ProfileJournalTest, EachSampleIsInTheFileAsSoonAsItIsAppended) {
  ProfileJournal journal(path_, false);
  for (int64_t m = 1; m <= 3; ++m) {
    journal.Append(Product(m));
    const std::vector<Sample> read = ReadSamples(path_);
    ASSERT_EQ(read.size(), static_cast<size_t>(m));
    EXPECT_EQ(read.back(), Product(m));
  }
}

TEST_P(ProfileJournalTest, AResumedFileContinuesWhereItEnded) {
  ProfileJournal(path_, true).Append(Product(1));
  {
    ProfileJournal journal(path_, true);
    EXPECT_EQ(journal.samples(), std::vector<Sample>{Product(1)});
    journal.Append(Product(2));
  }
  EXPECT_EQ(ReadSamples(path_), (std::vector<Sample>{Product(1), Product(2)}));
}

// However many bytes a killed run left, complete records stay, and the next one follows them.
TEST_P(ProfileJournalTest, HalfARecordIsCutOff) {
  size_t whole = 0;
  {
    ProfileJournal journal(path_, false);
    journal.Append(Product(1));
    whole = Bytes().size();
    journal.Append(Product(2));
  }
  const std::string all = Bytes();
  for (size_t size = 0; size < all.size(); ++size) {
    std::ofstream(path_, std::ios::binary) << all.substr(0, size);
    ProfileJournal journal(path_, true);
    ASSERT_EQ(journal.samples().size(), size < whole ? 0u : 1u) << size;
    journal.Append(Product(3));
    const std::vector<Sample> read = ReadSamples(path_);
    ASSERT_EQ(read.size(), journal.samples().size() + 1) << size;
    ASSERT_EQ(read.back(), Product(3)) << size;
  }
}

TEST_P(ProfileJournalTest, AnExistingFileIsNotOverwritten) {
  ProfileJournal(path_, false).Append(Product(1));
  const std::string before = Bytes();
  EXPECT_NE(ErrorOf([&] { ProfileJournal(path_, false); }).find("--resume"), std::string::npos);
  EXPECT_EQ(Bytes(), before);
}

// The text is neither cut off as an incomplete record nor continued.
TEST_P(ProfileJournalTest, AFileOfAnythingElseIsLeftAsItIs) {
  for (const char* text : {"notes", "notes\n", "gpu,kind,time_us\n"}) {
    std::ofstream(path_, std::ios::binary) << text;
    EXPECT_EQ(ErrorOf([&] { ProfileJournal(path_, true); }),
              "-o: got " + path_ + ", which holds something else, want a file that profile wrote");
    EXPECT_EQ(Bytes(), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ProfileJournalTest, testing::Values(".csv", ".pb"),
                         [](const auto& info) { return std::string(info.param + 1); });

TEST(ProfileJournalFormatTest, AProtoHoldsCopiesBetweenHostAndDevice) {
  const std::string path = std::filesystem::path(testing::TempDir()) / "copies.pb";
  std::filesystem::remove(path);
  Sample sample = Product(1);
  const Link bus = {LinkKind::kPcie, kPcieLatency, PcieBandwidth(5)};
  sample.op = Op::Collective(
      OpKind::kSendRecv, stagecraft::Bytes(4096),
      Fabric{.ranks = 2, .nodes = 1, .ranks_per_node = 2, .intra = bus, .inter = {}});
  sample.name = "host_to_device";
  ProfileJournal(path, false).Append(sample);
  EXPECT_EQ(ProfileJournal(path, true).samples(), std::vector<Sample>{sample});
}

}  // namespace
}  // namespace stagecraft
