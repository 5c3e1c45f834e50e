#pragma once

// Owns the way from HTML to the text that a reader of the page would see.

#include <string>
#include <string_view>

namespace search_service {

/// The text of `html`: without tags, comments, scripts and style sheets, with
/// character references decoded. Tags that end a line on the screen become line
/// breaks, others vanish, so that `<b>w</b>ord` stays one word. Broken markup
/// never fails: what can't be a tag is text. Takes linear time.
std::string html_to_text(std::string_view html);

} // namespace search_service
