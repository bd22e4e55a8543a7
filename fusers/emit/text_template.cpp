#include "fusers/emit/text_template.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>

namespace deepjit::emit {

namespace {

bool is_placeholder_character(char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// End of the placeholder that begins at `begin` (behind its second '@'), or npos where none begins.
std::size_t placeholder_end(std::string_view text, std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < text.size() && is_placeholder_character(text[end]))
        ++end;
    return end < text.size() && text[end] == '@' && end > begin + 1 ? end + 1 : std::string_view::npos;
}

/// Where a Python line may be broken: the last blank inside brackets that ends before `columns`, and the
/// column behind the bracket that is open there.
struct PythonBreak {
    std::size_t at = 0; ///< 0: nowhere
    std::size_t indent = 0;
};

/// `open` holds the columns behind the brackets that earlier lines left open.
PythonBreak last_break(std::string_view line, std::size_t columns, std::vector<std::size_t> open) {
    PythonBreak found;
    for (std::size_t i = 0; i < std::min(line.size(), columns); ++i) {
        if (line[i] == '(' || line[i] == '[') open.push_back(i + 1);
        if ((line[i] == ')' || line[i] == ']') && !open.empty()) open.pop_back();
        const bool is_blank_in_brackets = line[i] == ' ' && !open.empty() && i >= open.back();
        const std::string_view behind = line.substr(i);
        const bool is_border = is_blank_in_brackets && (line[i - 1] == ',' || behind.starts_with(" | ") ||
                                                        behind.starts_with(" or "));
        if (is_border) found = {i, open.back()};
    }
    return found;
}

} // namespace

std::string fill_template(std::string_view text, const Substitutions& values) {
    std::string filled;
    std::size_t place = 0;
    while (place < text.size()) {
        const std::size_t begin = text.find('@', place);
        if (begin == std::string_view::npos) break;
        filled += text.substr(place, begin - place);
        const std::size_t end = placeholder_end(text, begin);
        if (end == std::string_view::npos) {
            filled += '@';
            place = begin + 1;
            continue;
        }
        const auto value = values.find(text.substr(begin + 1, end - begin - 2));
        assert(value != values.end());
        filled += value->second;
        place = end;
        const bool alone_on_line =
            (begin == 0 || text[begin - 1] == '\n') && place < text.size() && text[place] == '\n';
        if (alone_on_line && value->second.empty()) ++place;
    }
    filled += text.substr(place);
    return filled;
}

std::string broken_list(std::string_view opening, const std::vector<std::string>& items,
                        std::string_view closing) {
    constexpr std::size_t kColumns = 100;
    // Where the opening is long, the items go below its line instead.
    const std::size_t first_column = opening.find_first_not_of(' ');
    const std::size_t indent = opening.size() <= kColumns / 2 ? opening.size() : first_column + 4;
    std::string text(opening);
    std::size_t column = opening.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool is_last = i + 1 == items.size();
        const std::size_t width = items[i].size() + (is_last ? closing.size() : 1);
        if (column + 1 + width > kColumns && i > 0) {
            text += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (i > 0) {
            text += ' ';
            ++column;
        }
        text += items[i];
        if (!is_last) text += ',';
        column += width;
    }
    return text + std::string(closing);
}

std::string broken_python(std::string_view text) {
    constexpr std::size_t kColumns = 110;
    std::string broken;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1);
        std::string line(text.substr(0, end + 1));
        text.remove_prefix(end + 1);
        std::vector<std::size_t> open;
        while (line.size() > kColumns && line.find('"') == std::string::npos) {
            const PythonBreak place = last_break(line, kColumns, open);
            if (place.at <= place.indent) break;
            open = {place.indent};
            broken += line.substr(0, place.at) + "\n";
            line = std::string(place.indent, ' ') + line.substr(place.at + 1);
        }
        broken += line;
    }
    return broken;
}

} // namespace deepjit::emit
