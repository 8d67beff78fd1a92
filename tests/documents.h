// Reads from README.md and docs/ which commands they show, and what these print.
//
// A fenced block of the kind "console" shows commands and what they print:
//
//   $ ./stagecraft simulate --model llama3-8b --cluster h100-sxm:1x8
//   …
//   step time 1616.0 ms, 80 % prediction interval: 1528.6 to 1708.5 ms
//   …
//
// A command that ends with a backslash continues in the next line, and a line "…" stands for any
// number of lines. A block of the kind "figures" has a command that ends with "…", and below it
// rows of flags to be put there, each with figures of the result:
//
//   $ ./stagecraft simulate --model gpt3-175b --cluster h100-sxm:8x8 …
//   --schedule 1f1b      2778 ms   19.5 %    58.8 GiB
//
// Blocks of any other kind are not run. The kind "text" is for commands that take long, or need a
// GPU or several processes.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stagecraft::documents {

using Lines = std::vector<std::string>;

Lines SplitLines(const std::string& text);

struct ShownCommand {
  int line = 0;                    // of the document, counted from 1, in which it begins
  int first_shown = 0;             // the line in which `shown` begins
  std::vector<std::string> words;  // after "./stagecraft"
  Lines shown;                     // what the document says that it prints
};

// Returns the commands of all blocks of this kind, in order.
std::vector<ShownCommand> CommandsOf(const std::string& document, const std::string& kind);

struct Figure {
  std::string shown;  // "19.5"
  std::string unit;   // "%"
};
struct ShownFigures {
  int line = 0;
  std::vector<std::string> words;
  std::vector<Figure> figures;
};

// Returns the rows of all blocks of the kind "figures".
std::vector<ShownFigures> FiguresOf(const std::string& document);

// Returns `value` with as many digits behind the point as `shown` has.
std::string WithDigitsOf(const std::string& shown, double value);

// Returns the lines without what differs from run to run: the number in "in 1.2 s" or "after 1.2
// s", and the last column of a table if its heading is "seconds". Spaces at the ends of lines are
// removed, too.
Lines WithoutWallTimes(const Lines& lines);

// Returns a sentence about the first lines that are shown but not printed; empty if there are none.
std::string FindDifference(const Lines& shown, const Lines& printed);

// Returns `shown` as it should be now: each run of lines between two "…" is replaced by the printed
// lines that are most like it.
Lines Renewed(const Lines& shown, const Lines& printed);

struct Link {
  int line = 0;
  std::string path;    // relative to the document; empty: the document itself
  std::string anchor;  // after "#"
};
// Returns the links and pictures that lead to files.
std::vector<Link> LinksOf(const std::string& document);
// Returns the anchors of a document's headings, as GitHub makes them.
std::vector<std::string> AnchorsOf(const std::string& document);

}  // namespace stagecraft::documents
