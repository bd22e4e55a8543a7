file(READ "${INPUT}" text)
# A string literal longer than 64 KiB is not portable; adjacent raw literals are joined by the compiler.
file(WRITE "${OUTPUT}"
"#include <string_view>
namespace ${NAMESPACE} {
extern const std::string_view ${NAME};
const std::string_view ${NAME} = R\"embedded(${text})embedded\";
}
")
