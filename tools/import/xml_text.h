// XML read with care: bounded depth, and lines for errors.
#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>

namespace stagecraft {

inline constexpr int kMostXmlDepth = 64;

// Parses `text` into `document`; throws InputError with `name` and a line for
// broken XML and elements nested deeper than kMostXmlDepth.
void ParseXml(const std::string& text, const std::string& name, pugi::xml_document* document);

// "topo.xml: line 7: <gpu>": opens a sentence about an element.
std::string AtElement(const std::string& text, const std::string& name, const pugi::xml_node& node);

}  // namespace stagecraft
