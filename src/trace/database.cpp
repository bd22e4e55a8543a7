#include "src/trace/database.hpp"

#include "src/base/files.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <climits>
#include <system_error>

namespace deepjit::trace {
namespace {

constexpr std::string_view kRecordAgain =
    "record it again with 'deepjit profile', or import its source again";
constexpr std::string_view kFreeSpace = "free some space, or write the trace to another disk with -o";

Diagnostic sqlite_failure(sqlite3* database, const std::filesystem::path& path) {
    const int code = sqlite3_errcode(database) & 0xFF;
    const int system_error = sqlite3_system_errno(database);
    std::string evidence = sqlite3_errmsg(database);
    if (system_error != 0 && code != SQLITE_FULL && code != SQLITE_CORRUPT)
        evidence += fmt::format(" ({})", system_error_text(system_error));
    const std::string name = path.string();
    switch (code) {
    case SQLITE_FULL:
        return failure(fmt::format("there is no space left for the trace '{}'", name), evidence,
                       std::string(kFreeSpace));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return failure(fmt::format("cannot open '{}'", name), evidence,
                       "check that the file and its folder are yours to use");
    case SQLITE_IOERR:
        // SQLite keeps the errno of a failed open, not of a failed write.
        if (sqlite3_extended_errcode(database) == SQLITE_IOERR_WRITE)
            return failure(
                fmt::format("writing the trace '{}' failed", name), evidence,
                "check the space on its disk and the limit on file sizes (ulimit -f), or write the "
                "trace elsewhere with -o");
        return failure(fmt::format("reading '{}' failed", name), evidence,
                       "copy the file to another disk and try again");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return failure(fmt::format("the trace '{}' is damaged", name), evidence, std::string(kRecordAgain));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return failure(fmt::format("another program has locked '{}'", name), evidence,
                       "close the program that is writing it and try again");
    default:
        // Reached when the tables are not what this version writes.
        return failure(fmt::format("the trace '{}' cannot be used", name), evidence,
                       std::string(kRecordAgain));
    }
}

/// sqlite3_bind_* takes a null pointer for SQL NULL; an empty string must stay an empty string.
const char* not_null(std::string_view text) {
    return text.empty() ? "" : text.data();
}

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Statement::Statement(sqlite3_stmt* statement, std::filesystem::path shown_as)
    : statement_(statement), shown_as_(std::move(shown_as)) {}

void Statement::bind_integer(int index, std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::bind(int index, std::string_view text) {
    sqlite3_bind_text64(statement_.get(), index, not_null(text), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind(int index, Blob blob) {
    sqlite3_bind_blob64(statement_.get(), index, not_null(blob.bytes), blob.bytes.size(), SQLITE_STATIC);
}

void Statement::bind(int index, const std::optional<std::int64_t>& value) {
    if (value)
        bind_integer(index, *value);
    else
        sqlite3_bind_null(statement_.get(), index);
}

void Statement::bind(int index, const std::optional<std::string>& text) {
    if (text)
        bind(index, std::string_view(*text));
    else
        sqlite3_bind_null(statement_.get(), index);
}

void Statement::bind(int index, double value) {
    sqlite3_bind_double(statement_.get(), index, value);
}

Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return sqlite_failure(sqlite3_db_handle(statement_.get()), shown_as_);
}

Result<void> Statement::run_once() {
    const auto stepped = step();
    sqlite3_reset(statement_.get());
    if (!stepped) return stepped.error();
    return {};
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::bytes(int column) const {
    // column_blob hands TEXT over as it was stored; column_text would stop being exact at a NUL byte.
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return data == nullptr ? std::string()
                           : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
}

Result<Database> Database::open(const std::filesystem::path& path, const std::filesystem::path& shown_as,
                                int flags) {
    // An absolute path is never taken for ":memory:" or a "file:" URI.
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    if (error) return failure(fmt::format("cannot open '{}'", shown_as.string()), error.message());
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(absolute.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    Database database;
    database.database_.reset(handle);
    database.shown_as_ = shown_as;
    if (handle == nullptr)
        return failure(fmt::format("cannot open '{}'", shown_as.string()), "out of memory");
    if (code != SQLITE_OK) return sqlite_failure(handle, shown_as);
    return database;
}

Result<Database> Database::open_read_only(const std::filesystem::path& path) {
    DEEPJIT_TRY(Database database, open(path, path, SQLITE_OPEN_READONLY));
    sqlite3* handle = database.database_.get();
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    DEEPJIT_CHECK(database.execute("PRAGMA query_only = ON; PRAGMA cell_size_check = ON; "
                                   "PRAGMA mmap_size = 0;"));
    return database;
}

Result<Database> Database::open_for_building(const std::filesystem::path& path,
                                             const std::filesystem::path& shown_as) {
    DEEPJIT_TRY(Database database, open(path, shown_as, SQLITE_OPEN_READWRITE));
    DEEPJIT_CHECK(database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                                   "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; "
                                   "PRAGMA secure_delete = OFF;"));
    return database;
}

Result<void> Database::execute(std::string_view sql) {
    const std::string text(sql);
    if (sqlite3_exec(database_.get(), text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return sqlite_failure(database_.get(), shown_as_);
    return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
        SQLITE_OK)
        return sqlite_failure(database_.get(), shown_as_);
    return Statement(statement, shown_as_);
}

Result<std::int64_t> Database::query_integer(std::string_view sql) const {
    DEEPJIT_TRY(Statement statement, prepare(sql));
    DEEPJIT_TRY(const bool has_row, statement.step());
    return has_row ? statement.integer(0) : 0;
}

std::int64_t Database::last_insert_id() const {
    return sqlite3_last_insert_rowid(database_.get());
}

void Database::close() {
    database_.reset();
}

} // namespace deepjit::trace
