#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deepjit {

/// Makes any bytes safe to print: valid UTF-8 stays, control characters and stray bytes become \xNN.
std::string printable(std::string_view bytes);

/// Shortens to at most `columns` code points by replacing the middle with "…". `text` must be valid UTF-8.
std::string elide_middle(std::string_view text, std::size_t columns);

/// Number of code points, which is the width in columns for the characters this tool prints.
std::size_t display_width(std::string_view text);

/// `text` with line breaks instead of blanks, so that lines have at most `columns` columns, the first at most
/// `first_columns`. Longer words stand alone; line breaks that are there stay.
std::string wrap_words(std::string_view text, std::size_t columns, std::size_t first_columns);

/// A plain C, Python and CMake identifier: [A-Za-z_][A-Za-z0-9_]*, at most 128 characters.
bool is_identifier(std::string_view text);

/// The nearest identifier to `text`: other characters become '_', a leading digit gets one before it.
std::string to_identifier(std::string_view text);

/// Text that cannot end a C or C++ comment or line: newlines to spaces, "*/" and "/*" and trailing
/// backslashes broken up.
std::string comment_safe(std::string_view text);

/// "a, b and c".
std::string join_words(const std::vector<std::string>& words);

/// C++ name of a mangled symbol, or the symbol itself where it is none or longer than 8 KiB: the demangler
/// takes time exponential in adversarial names.
std::string demangle(const std::string& symbol);

/// The function of a demangled kernel name with no parameters, template arguments or enclosing namespaces:
/// "void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)" to "vectorized_elementwise_kernel".
std::string base_name_of_function(std::string_view demangled);

/// The candidate nearest to `word` by edit distance, or empty where none is close enough to be a typo.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

} // namespace deepjit
