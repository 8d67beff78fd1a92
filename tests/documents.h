// Documents: what README.md and docs/ show, apart from running it.
//
// A fenced block of the kind "console" shows commands and what they print:
//
//   $ ./stagecraft simulate --model llama3-8b --cluster h100-sxm:1x8
//   …
//   step time 1616.0 ms, 80 % prediction interval: 1528.6 to 1708.5 ms
//   …
//
// A command that ends with a backslash goes on in the next line, and a line "…" stands for
// any number of lines. A block of the kind "figures" has a command that ends with "…", and
// below it flags to put there, with figures of what they give:
//
//   $ ./stagecraft simulate --model gpt3-175b --cluster h100-sxm:8x8 …
//   --schedule 1f1b      2778 ms   19.5 %    58.8 GiB
//
// Blocks of any other kind are not run: "text" for what takes long, needs a GPU, or files
// that a clone of this lacks.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stagecraft::documents {

using Lines = std::vector<std::string>;

Lines SplitLines(const std::string& text);

struct ShownCommand {
  int line = 0;                    // of the document, from 1, that it begins in
  int first_shown = 0;             // the same of `shown`
  std::vector<std::string> words;  // after "./stagecraft"
  Lines shown;                     // what the document says that it prints
};

// Commands of blocks of that kind, in order.
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

// Rows of blocks of the kind "figures".
std::vector<ShownFigures> FiguresOf(const std::string& document);

// `value` with as many digits behind the point as `shown` has.
std::string WithDigitsOf(const std::string& shown, double value);

// What is left of a line that differs from run to run: the number of "in 1.2 s" is taken
// out, and the last column of a table that is called "seconds". Spaces at the end too.
Lines WithoutWallTimes(const Lines& lines);

// What of `shown` is not in `printed`, as a sentence; empty where all is there.
std::string FindDifference(const Lines& shown, const Lines& printed);

// `shown` with what is printed now: of each run of lines between two "…" the printed lines
// that are most like it.
Lines Renewed(const Lines& shown, const Lines& printed);

struct Link {
  int line = 0;
  std::string path;    // relative to the document; empty: the document itself
  std::string anchor;  // after "#"
};
// Links and pictures that lead to files.
std::vector<Link> LinksOf(const std::string& document);
// Anchors of a document's headings, as GitHub makes them.
std::vector<std::string> AnchorsOf(const std::string& document);

}  // namespace stagecraft::documents
