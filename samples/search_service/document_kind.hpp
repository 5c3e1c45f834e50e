#pragma once

// Owns the decision which files are indexed and as what: first by name, which
// costs nothing, then by the beginning of the content.

#include <optional>
#include <string_view>

namespace search_service {

/// What a document is written in; only HTML is read differently.
enum class document_kind { text, markdown, restructured_text, html, source };

/// The kind in words, as status pages show it.
std::string_view to_string(document_kind kind);

/// What a file's name says about it.
struct name_verdict {
  enum class answer { indexed, skipped, unknown };

  answer what = answer::unknown;
  document_kind kind = document_kind::text; ///< meant for `indexed` only
};

/// Judges a file by its name without directories; upper and lower case are one.
/// A name that says nothing ("README", "changelog.Debian") is unknown: its
/// content decides.
name_verdict judge_name(std::string_view file_name);

/// True if a file that begins with `head` is no text: it holds a NUL, or more
/// than three bytes in ten are control characters or malformed UTF-8. A text
/// in an old eight-bit encoding stays below that, compressed data does not.
bool is_binary(std::string_view head);

/// The kind of a file whose name gave `verdict` and whose content begins with
/// `head`; nothing if the file is not to be indexed. Content that contradicts
/// the name wins: a binary named .txt is no text.
std::optional<document_kind> judge_content(name_verdict verdict,
                                           std::string_view head);

} // namespace search_service
