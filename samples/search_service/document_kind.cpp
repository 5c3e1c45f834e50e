#include "document_kind.hpp"

#include "ascii.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace search_service {

namespace {

using names = std::string_view;

// Sorted, so that a look-up is a binary search.
constexpr names text_extensions[] = {"asc",  "cfg", "conf", "csv", "ini",
                                     "log",  "po",  "pot",  "tex", "texi",
                                     "text", "tsv", "txt"};
constexpr names markdown_extensions[] = {"markdown", "md", "mdown", "mkd"};
constexpr names restructured_extensions[] = {"rest", "rst"};
constexpr names html_extensions[] = {"htm", "html", "shtml", "xhtml"};
constexpr names source_extensions[] = {
    "ada",    "asm",    "awk", "bash",  "bat",  "c",   "cc",    "cl",    "clj",
    "cmake",  "cpp",    "cs",  "css",   "cu",   "cxx", "d",     "dart",  "def",
    "diff",   "el",     "erl", "ex",    "exs",  "f",   "f90",   "fs",    "go",
    "gradle", "groovy", "h",   "hh",    "hpp",  "hrl", "hs",    "hxx",   "idl",
    "inc",    "inl",    "ipp", "java",  "jl",   "js",  "json",  "jsx",   "kt",
    "l",      "lisp",   "lua", "m",     "m4",   "mk",  "ml",    "mli",   "mm",
    "mod",    "nim",    "pas", "patch", "php",  "pl",  "pm",    "proto", "ps1",
    "py",     "pyi",    "r",   "rb",    "rs",   "s",   "scala", "scm",   "sh",
    "sql",    "swift",  "tcl", "tf",    "toml", "ts",  "tsx",   "v",     "vb",
    "vhd",    "vim",    "xml", "xsd",   "xsl",  "y",   "yaml",  "yml",   "zig",
    "zsh"};
constexpr names skipped_extensions[] = {
    "7z",  "a",    "avi",   "bin",  "bmp",  "br",     "bz2", "class", "db",
    "deb", "dll",  "docx",  "dvi",  "eot",  "eps",    "exe", "flac",  "gif",
    "gmo", "gz",   "ico",   "iso",  "jar",  "jpeg",   "jpg", "ko",    "lz",
    "lz4", "lzma", "mo",    "mov",  "mp3",  "mp4",    "o",   "odp",   "ods",
    "odt", "ogg",  "otf",   "pack", "pcap", "pdf",    "png", "ppt",   "pptx",
    "ps",  "pyc",  "rar",   "rpm",  "so",   "sqlite", "svg", "svgz",  "swf",
    "tar", "tgz",  "tif",   "tiff", "ttf",  "wasm",   "wav", "webm",  "webp",
    "whl", "woff", "woff2", "xls",  "xlsx", "xz",     "z",   "zip",   "zst"};

static_assert(std::ranges::is_sorted(text_extensions));
static_assert(std::ranges::is_sorted(markdown_extensions));
static_assert(std::ranges::is_sorted(restructured_extensions));
static_assert(std::ranges::is_sorted(html_extensions));
static_assert(std::ranges::is_sorted(source_extensions));
static_assert(std::ranges::is_sorted(skipped_extensions));

template <class Names>
bool contains(const Names& sorted, std::string_view name) {
  return std::binary_search(std::begin(sorted), std::end(sorted), name);
}

name_verdict indexed(document_kind kind) {
  return {name_verdict::answer::indexed, kind};
}

// The beginning of the content, past a byte order mark and white space.
std::string_view first_words(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) {
    head.remove_prefix(3);
  }
  const std::size_t start = head.find_first_not_of(" \t\r\n\f");
  return start == std::string_view::npos ? "" : head.substr(start);
}

bool begins_like_html(std::string_view head) {
  const std::string start = ascii_lower(first_words(head).substr(0, 16));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

} // namespace

std::string_view to_string(document_kind kind) {
  switch (kind) {
  case document_kind::text:
    return "text";
  case document_kind::markdown:
    return "Markdown";
  case document_kind::restructured_text:
    return "reStructuredText";
  case document_kind::html:
    return "HTML";
  case document_kind::source:
    return "source code";
  }
  return "unknown";
}

name_verdict judge_name(std::string_view file_name) {
  const std::string name = ascii_lower(file_name);
  const std::size_t dot = name.rfind('.');
  // A leading dot hides a file and starts no extension.
  if (dot == std::string::npos || dot == 0) {
    return {};
  }
  const std::string_view extension = std::string_view{name}.substr(dot + 1);
  if (contains(skipped_extensions, extension)) {
    return {name_verdict::answer::skipped, document_kind::text};
  }
  if (contains(html_extensions, extension)) {
    return indexed(document_kind::html);
  }
  if (contains(markdown_extensions, extension)) {
    return indexed(document_kind::markdown);
  }
  if (contains(restructured_extensions, extension)) {
    return indexed(document_kind::restructured_text);
  }
  if (contains(source_extensions, extension)) {
    return indexed(document_kind::source);
  }
  if (contains(text_extensions, extension)) {
    return indexed(document_kind::text);
  }
  return {};
}

bool is_binary(std::string_view head) {
  std::size_t strange = 0;
  std::size_t at = 0;
  while (at < head.size()) {
    const utf8_step step = decode_utf8(head, at);
    if (step.code == 0) {
      return true;
    }
    // The head may end in the middle of a code point: that is not strange.
    const bool cut_off = !step.valid && at + step.size == head.size();
    const bool control = step.code < 0x20 &&
                         !(step.code >= '\t' && step.code <= '\r') &&
                         step.code != 0x1B && step.code != '\b';
    if (control || (!step.valid && !cut_off)) {
      strange += step.size;
    }
    at += step.size;
  }
  return strange * 10 > head.size() * 3;
}

std::optional<document_kind> judge_content(name_verdict verdict,
                                           std::string_view head) {
  if (verdict.what == name_verdict::answer::skipped || is_binary(head)) {
    return std::nullopt;
  }
  if (verdict.what == name_verdict::answer::indexed) {
    return verdict.kind;
  }
  if (begins_like_html(head)) {
    return document_kind::html;
  }
  return head.starts_with("#!") ? document_kind::source : document_kind::text;
}

} // namespace search_service
