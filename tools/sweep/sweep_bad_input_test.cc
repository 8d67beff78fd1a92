// Databases and grids that cannot be used: one sentence each, and nothing is lost.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <optional>
#include <string>

#include "tools/sweep/file_claim.h"
#include "tools/sweep/sweep_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

class SweepBadInputTest : public SweepTest {
 protected:
  void SetUp() override {
    SweepTest::SetUp();
    EXPECT_EQ(Run("sweep $grid.yaml -o $runs.db --quiet").code, kExitOk);
  }

  // Runs SQL on a database as another program would.
  void Change(const std::string& name, const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(Path(name).c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  // Expects that no command takes the file, and that all leave it as it is.
  void ExpectUseless(const std::string& name, const std::string& sentence) const {
    const std::string before = Read(name);
    ExpectRefused("sweep $grid.yaml -o $" + name, sentence);
    ExpectRefused("sweep --list $" + name, sentence);
    ExpectRefused("merge $" + name + " -o $all.db", sentence);
    EXPECT_EQ(Read(name), before);
    EXPECT_FALSE(Exists("all.db"));
  }
};

TEST_F(SweepBadInputTest, AFileThatIsNoDatabaseIsLeftAlone) {
  Write("notes.db", std::string(5000, 'x'));
  ExpectUseless("notes.db", "notes.db: got a file that is no SQLite database");
}

TEST_F(SweepBadInputTest, ADatabaseOfAnotherProgramIsLeftAlone) {
  Change("other.db", "CREATE TABLE photos (name TEXT)");
  ExpectUseless("other.db", "other.db: got a database of another program");
}

TEST_F(SweepBadInputTest, ADatabaseOfAnotherSchemaIsLeftAlone) {
  Change("runs.db", "PRAGMA user_version = 7");
  ExpectUseless("runs.db", "runs.db: got schema 7, want 1");
}

TEST_F(SweepBadInputTest, ADatabaseThatIsCutShortIsLeftAlone) {
  Write("short.db", Read("runs.db").substr(0, 9000));
  ExpectUseless("short.db", "short.db: got a database that is damaged");
}

TEST_F(SweepBadInputTest, ADatabaseOfAnotherVersionIsToldApart) {
  Change("runs.db", "UPDATE grids SET tool_version = '0.0.9', hash = 'old'");
  ExpectRefused("sweep $grid.yaml -o $runs.db",
                "runs.db: was written by stagecraft 0.0.9, and this");
  EXPECT_EQ(Run("sweep $grid.yaml -o $new.db --quiet").code, kExitOk);
  ExpectRefused("merge $runs.db $new.db -o $all.db", "want one version, or --allow-other-versions");
  const SweepOutcome merged = Run("merge $runs.db $new.db -o $all.db --allow-other-versions");
  EXPECT_EQ(merged.code, kExitOk) << merged.err;
  EXPECT_NE(merged.out.find("by stagecraft 0.0.9: 24 of 24"), std::string::npos) << merged.out;
}

TEST_F(SweepBadInputTest, OtherCostModelsAreToldApart) {
  Change("runs.db", "UPDATE grids SET data_hash = 'old', hash = 'old'");
  ExpectRefused("sweep $grid.yaml -o $runs.db", "with other cost models or catalogues");
}

TEST_F(SweepBadInputTest, AnotherGridIsToldApart) {
  Write("other.yaml", std::string(kSmallGrid) + "  zero: 0\n");
  ExpectRefused("sweep $other.yaml -o $runs.db", "runs.db: holds the points of another grid");
  EXPECT_EQ(Run("sweep $other.yaml -o $other.db --quiet").code, kExitOk);
  ExpectRefused("merge $runs.db $other.db -o $all.db", "want one grid, or --allow-other-grids");
  EXPECT_EQ(Run("merge $runs.db $other.db -o $all.db --allow-other-grids").code, kExitOk);
  ExpectRefused("sweep $grid.yaml -o $all.db", "all.db: got 2 merged grids");
  EXPECT_NE(Table("all.db").find("\n1,23,"), std::string::npos);
}

TEST_F(SweepBadInputTest, ARowWithOtherResultsIsNeverReplaced) {
  EXPECT_EQ(Run("sweep $grid.yaml -o $new.db --quiet").code, kExitOk);
  Change("new.db", "UPDATE runs SET result_hash = 'f' WHERE point = 3");
  ExpectRefused("merge $runs.db $new.db -o $all.db", "new.db: point 3 has other results than in");
  EXPECT_FALSE(Exists("all.db"));
}

TEST_F(SweepBadInputTest, ARowThatSweepDoesNotWriteIsNamed) {
  Change("runs.db", "UPDATE runs SET outcome = 'maybe' WHERE point = 3");
  ExpectRefused("sweep --list $runs.db", "runs: point 3: outcome: got \"maybe\"");
  Change("runs.db", "UPDATE runs SET outcome = 'fits', flags = '{' WHERE point = 3");
  ExpectRefused("sweep --list $runs.db", "runs: point 3: flags: got \"{\"");
}

TEST_F(SweepBadInputTest, TwoSweepsOfOneFileAreOneTooMany) {
  const std::optional<FileClaim> claim = FileClaim::Take(Path("runs.db"));
  ASSERT_TRUE(claim.has_value());
  ExpectRefused("sweep $grid.yaml -o $runs.db", "runs.db: another sweep is writing it");
  EXPECT_EQ(Run("sweep --list $runs.db").code, kExitOk);  // reading is allowed
}

TEST_F(SweepBadInputTest, ADatabaseThatAnotherProgramHasLockedIsWaitedForInVain) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(Path("runs.db").c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  ExpectRefused("sweep --list $runs.db", "runs.db: another program has locked the database");
  sqlite3_close(handle);
}

TEST_F(SweepBadInputTest, AnEmptyFileIsANewDatabase) {
  Write("new.db", "");
  EXPECT_EQ(Run("sweep $grid.yaml -o $new.db").code, kExitOk);
  EXPECT_EQ(Table("new.db"), Table("runs.db"));
}

TEST_F(SweepBadInputTest, AGridWithoutAValidPointIsAMistake) {
  Write("none.yaml", "flags: {model: gpt5, cluster: h100-sxm:1x1, zero: [0, 1]}\n");
  ExpectRefused(
      "sweep $none.yaml -o $none.db --quiet",
      "none.yaml: none of its 2 points can be evaluated; most of all: workload: got 'gpt5'");
  Write("large.yaml", "flags: {model: llama2-70b, cluster: h100-sxm:1x1, zero: [0, 1]}\n");
  const SweepOutcome large = Run("sweep $large.yaml -o $large.db --quiet");
  EXPECT_EQ(large.code, kExitInfeasible);
  EXPECT_NE(large.out.find("0 fit, 2 do not fit"), std::string::npos) << large.out;
}

TEST_F(SweepBadInputTest, MistakesOfTheCommandLineNameTheFlag) {
  ExpectRefused("sweep -o $x.db", "GRID: got none");
  ExpectRefused("sweep $grid.yaml", "-o: got none");
  ExpectRefused("sweep $grid.yaml --list $runs.db", "--list: got it with a grid file");
  ExpectRefused("sweep --list $none.db", "none.db: no such file");
  ExpectRefused("sweep --list $runs.db --by speed",
                "--by: got \"speed\", want one of tokens-per-s");
  ExpectRefused("sweep $grid.yaml -o $grid.yaml", "which the command names twice");
  ExpectRefused("sweep $grid.yaml -o /dev/null", "want a regular file");
  ExpectRefused("sweep $grid.yaml -o $x.db --shard 4/4", "--shard: got \"4/4\"");
  ExpectRefused("merge $runs.db -o $runs.db", "twice");
  ExpectRefused("merge $runs.db $runs.db -o $all.db", "got it twice");
  ExpectRefused("merge $grid.yaml -o $all.db", "grid.yaml: got a file that is no SQLite database");
  Write("taken.db", "");
  ExpectRefused("merge $runs.db -o $taken.db", "which exists already");
  EXPECT_FALSE(Exists("x.db"));
}

}  // namespace
}  // namespace stagecraft
