// Networks, operator graphs and learned policies, which are not protobuf messages of this project;
// and reports.
#pragma once

#include <optional>
#include <string>

#include "tools/check/check_file.h"

namespace stagecraft {

// Recognises ONNX models by their extension, and saved policies, PipeDream's graph.txt and HTML
// pages by their first words; nullopt for other files. Throws InputError as the commands that read
// them do, and for HTML pages that stagecraft did not write.
std::optional<FileSummary> CheckNetworkFile(const std::string& bytes, const std::string& path,
                                            const std::string& extension);

// For JSON that describes an operator graph: Piper's if operators have "TMPCs", else
// dnn-partitioning's. CheckGraphJson() throws InputError as the planners do.
bool IsGraphJson(const std::string& text);
FileSummary CheckGraphJson(const std::string& text, const std::string& path);

// Checks the text of a gzipped file if it is an operator graph; nullopt for anything else.
std::optional<FileSummary> CheckUnzippedGraph(const std::string& text, const std::string& path);

}  // namespace stagecraft
