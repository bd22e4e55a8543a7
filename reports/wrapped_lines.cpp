#include "reports/wrapped_lines.hpp"

#include "src/base/text.hpp"

#include <algorithm>
#include <array>

namespace deepjit::reports {
namespace {

constexpr std::size_t kNarrowest = 40;

bool is_unit(std::string_view word) {
    while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
    constexpr std::array<std::string_view, 10> kUnits = {"ns", "\u00b5s", "ms",  "s",   "%",
                                                         "B",  "KiB",     "MiB", "GiB", "TiB"};
    return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

/// End of the word that begins at `begin`, with the unit or the value that belongs to it.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    while (end < text.size() && end > begin) {
        const std::size_t next_end = std::min(text.find(' ', end + 1), text.size());
        const std::string_view next = text.substr(end + 1, next_end - end - 1);
        const bool unit = text[end - 1] >= '0' && text[end - 1] <= '9' && is_unit(next);
        const bool equation = next == "=" || text.substr(begin, end - begin).ends_with(" =");
        if (!unit && !equation) break;
        end = next_end;
    }
    return end;
}

} // namespace

WrappedLines::WrappedLines(std::size_t width) : width_(std::max(width, kNarrowest)) {}

void WrappedLines::add(std::string_view text, std::size_t indent) {
    std::string line;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = end_of_word(text, begin);
        const std::string_view word = text.substr(begin, end - begin);
        if (!line.empty() && display_width(line) + 1 + display_width(word) > width_) {
            add_row(line);
            line.assign(indent, ' ');
        } else if (begin != 0) {
            line += ' ';
        }
        line += word;
        begin = end + 1;
    }
    add_row(line);
}

void WrappedLines::add_row(std::string_view line) {
    lines_.push_back(elide_middle(line, width_));
}

std::string WrappedLines::name(std::string_view bytes) const {
    return elide_middle(printable(bytes), width_ / 2);
}

std::string WrappedLines::text() const {
    std::string all;
    for (const std::string& line : lines_)
        all += line + "\n";
    return all;
}

} // namespace deepjit::reports
