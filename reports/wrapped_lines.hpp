#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deepjit::reports {

/// Lines within a width. Facts wrap between words; only names are shortened, before they come here, and made
/// printable.
class WrappedLines {
  public:
    /// Widths below 40 count as 40.
    explicit WrappedLines(std::size_t width);

    /// Text of any length, broken between words; a value and its unit, and "K = 30", are one. Further lines
    /// begin with `indent` spaces.
    void add(std::string_view text, std::size_t indent);
    /// A line that has been made to fit; what does not is shortened in its middle.
    void add_row(std::string_view line);
    /// A line that a person copies, whole at any width.
    void add_command(std::string line) { lines_.push_back(std::move(line)); }

    std::size_t count() const { return lines_.size(); }
    std::size_t width() const { return width_; }
    /// A name from a trace made printable, and so short that a fact fits beside it.
    std::string name(std::string_view bytes) const;
    /// All lines, each with its newline.
    std::string text() const;

  private:
    std::size_t width_;
    std::vector<std::string> lines_;
};

} // namespace deepjit::reports
