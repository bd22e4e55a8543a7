#include "src/base/text.hpp"

#include <gtest/gtest.h>

namespace deepjit {
namespace {

TEST(Printable, keeps_utf8_and_shows_everything_else_as_bytes) {
    EXPECT_EQ(printable("caf\u00e9 \u4e2d \U0001F600"), "caf\u00e9 \u4e2d \U0001F600");
    EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\x0ab\\x09c\\x1b[31m\\x7f");
    EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, refuses_overlong_forms_surrogates_cut_sequences_and_c1_controls) {
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
    EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    EXPECT_EQ(printable("x\xe4\xb8"), "x\\xe4\\xb8");
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
}

TEST(ElideMiddle, counts_characters_and_not_bytes) {
    EXPECT_EQ(elide_middle("abcdefghij", 10), "abcdefghij");
    EXPECT_EQ(elide_middle("abcdefghij", 5), "ab\u2026ij");
    EXPECT_EQ(elide_middle("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 4), "\u00e4\u00f6\u2026\u00fc");
    EXPECT_EQ(elide_middle("abc", 1), "\u2026");
    EXPECT_EQ(elide_middle("abc", 0), "");
    EXPECT_EQ(display_width("\u00b5s"), 2u);
}

TEST(Identifier, accepts_only_plain_ones) {
    EXPECT_TRUE(is_identifier("_relu2"));
    for (const char* text : {"", "2relu", "a-b", "a b", "../a", "caf\u00e9"})
        EXPECT_FALSE(is_identifier(text)) << text;
    EXPECT_TRUE(is_identifier(std::string(128, 'a')));
    EXPECT_FALSE(is_identifier(std::string(129, 'a')));
}

TEST(Identifier, is_made_of_any_text) {
    EXPECT_EQ(to_identifier("my model.v2"), "my_model_v2");
    EXPECT_EQ(to_identifier("2nd"), "_2nd");
    EXPECT_EQ(to_identifier(""), "_");
    EXPECT_TRUE(is_identifier(to_identifier(std::string(10000, '*'))));
    EXPECT_TRUE(is_identifier(to_identifier("\xff\n/../")));
}

TEST(CommentSafe, cannot_end_a_comment_or_continue_a_line) {
    for (const char* text :
         {"*/ int main() {", "a\n#error", "/* nested", "ends with \\", "**//", "trigraph ?\?/"}) {
        const std::string safe = comment_safe(text);
        EXPECT_EQ(safe.find("*/"), std::string::npos) << safe;
        EXPECT_EQ(safe.find("/*"), std::string::npos) << safe;
        EXPECT_EQ(safe.find('\n'), std::string::npos) << safe;
        EXPECT_FALSE(safe.ends_with('\\')) << safe;
        EXPECT_FALSE(safe.ends_with("?\?/")) << safe;
    }
    EXPECT_EQ(comment_safe("at::native::add"), "at::native::add");
}

TEST(Words, are_joined_as_in_a_sentence) {
    EXPECT_EQ(join_words({}), "");
    EXPECT_EQ(join_words({"a"}), "a");
    EXPECT_EQ(join_words({"a", "b"}), "a and b");
    EXPECT_EQ(join_words({"a", "b", "c"}), "a, b and c");
}

TEST(Words, are_wrapped_at_blanks_and_never_inside) {
    EXPECT_EQ(wrap_words("aa bb cc dd", 5, 8), "aa bb cc\ndd");
    EXPECT_EQ(wrap_words("aa bb cc dd", 5, 2), "aa\nbb cc\ndd");
    EXPECT_EQ(wrap_words("a-long-word b", 5, 5), "a-long-word\nb");
    EXPECT_EQ(wrap_words("a\nb c", 80, 80), "a\nb c") << "a line break stays";
    EXPECT_EQ(wrap_words("\u00b5\u00b5\u00b5 \u00b5", 5, 5), "\u00b5\u00b5\u00b5 \u00b5")
        << "columns, not bytes";
    EXPECT_EQ(wrap_words("", 5, 5), "");
}

TEST(Words, nearest_is_a_likely_typo_or_nothing) {
    const std::vector<std::string> commands = {"profile", "advise", "fuse", "import", "doctor"};
    EXPECT_EQ(nearest_word("advice", commands), "advise");
    EXPECT_EQ(nearest_word("profil", commands), "profile");
    EXPECT_EQ(nearest_word("fsue", commands), "");
    EXPECT_EQ(nearest_word("elephant", commands), "");
    EXPECT_EQ(nearest_word("", commands), "");
}

TEST(Demangle, gives_the_name_or_the_symbol_itself) {
    EXPECT_EQ(demangle("_Z8add_rowsPKfS0_Pfi"), "add_rows(float const*, float const*, float*, int)");
    EXPECT_EQ(demangle("triton_poi_fused_0"), "triton_poi_fused_0");
    EXPECT_EQ(demangle("_Z"), "_Z");
    EXPECT_EQ(demangle(""), "");
    const std::string long_symbol = "_Z" + std::string(9000, 'P');
    EXPECT_EQ(demangle(long_symbol), long_symbol);
}

TEST(BaseName, drops_namespaces_template_arguments_and_parameters) {
    EXPECT_EQ(base_name_of_function("void at::native::vectorized_elementwise_kernel<4, f<int>, "
                                    "std::array<char*, 3ul>>(int, f<int>, std::array<char*, 3ul>)"),
              "vectorized_elementwise_kernel");
    EXPECT_EQ(base_name_of_function("add_rows(float const*, float*, int)"), "add_rows");
    EXPECT_EQ(base_name_of_function("void (anonymous namespace)::elementwise_kernel<128>(int)"),
              "elementwise_kernel");
    EXPECT_EQ(base_name_of_function("void outer<int>::inner<float>(int)"), "inner");
    EXPECT_EQ(base_name_of_function("triton_poi_fused_0"), "triton_poi_fused_0");
    EXPECT_EQ(base_name_of_function(""), "");
}

} // namespace
} // namespace deepjit
