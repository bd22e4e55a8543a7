#include "fusers/verify/experiments_log.hpp"

#include "src/base/files.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <string_view>
#include <utility>

namespace deepjit::verify {

namespace {

constexpr int kLogSchemaVersion = 1;
constexpr int kBusyTimeoutMilliseconds = 5000;

constexpr const char* kSchema = R"sql(
CREATE TABLE IF NOT EXISTS experiment (
  experiment_id INTEGER PRIMARY KEY,
  time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  chain_name TEXT NOT NULL,
  chain_hash TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  configuration TEXT NOT NULL,
  architecture TEXT NOT NULL,
  device_name TEXT NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  registers_per_thread INTEGER,
  local_bytes_per_thread INTEGER,
  error REAL,
  time_ns REAL
) STRICT;
CREATE INDEX IF NOT EXISTS experiment_by_chain ON experiment (chain_hash);
)sql";

constexpr const char* kInsert =
    "INSERT INTO experiment (chain_name, chain_hash, source_hash, configuration, architecture, device_name, "
    "outcome, reason, registers_per_thread, local_bytes_per_thread, error, time_ns) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

constexpr const char* kSelect =
    "SELECT chain_name, chain_hash, source_hash, configuration, architecture, device_name, outcome, reason, "
    "registers_per_thread, local_bytes_per_thread, error, time_ns FROM experiment WHERE chain_hash = ? "
    "ORDER BY experiment_id";

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// Not `bind`: with a std::string argument that would find std::bind, which does nothing.
void bind_text(sqlite3_stmt* statement, int place, std::string_view text) {
    sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string text_at(sqlite3_stmt* statement, int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    return text == nullptr
               ? std::string()
               : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

bool is_null(sqlite3_stmt* statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

Experiment row_of(sqlite3_stmt* statement) {
    Experiment row;
    row.chain_name = text_at(statement, 0);
    row.chain_hash = text_at(statement, 1);
    row.source_hash = text_at(statement, 2);
    row.configuration = text_at(statement, 3);
    row.architecture = text_at(statement, 4);
    row.device_name = text_at(statement, 5);
    row.outcome = text_at(statement, 6);
    row.reason = text_at(statement, 7);
    if (!is_null(statement, 8)) row.registers_per_thread = sqlite3_column_int(statement, 8);
    if (!is_null(statement, 9)) row.local_bytes_per_thread = sqlite3_column_int64(statement, 9);
    if (!is_null(statement, 10)) row.error = sqlite3_column_double(statement, 10);
    if (!is_null(statement, 11)) row.time_ns = sqlite3_column_double(statement, 11);
    return row;
}

} // namespace

struct ExperimentsLog::Impl {
    std::filesystem::path path;
    Database database;

    Diagnostic error(std::string_view what) const {
        return failure(
            fmt::format("the experiments log '{}' cannot be {}", printable(path.string()), what),
            fmt::format("SQLite: {}", sqlite3_errmsg(database.get())),
            "move the file away to start a new one, or set DEEPJIT_CACHE_DIR to a folder that you can write");
    }

    Result<Statement> prepare(const char* sql) const {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(database.get(), sql, -1, &statement, nullptr) != SQLITE_OK)
            return error("used");
        return Statement(statement);
    }

    Result<int> user_version() const {
        DEEPJIT_TRY(const Statement statement, prepare("PRAGMA user_version"));
        if (sqlite3_step(statement.get()) != SQLITE_ROW) return error("read");
        return sqlite3_column_int(statement.get(), 0);
    }
};

ExperimentsLog::ExperimentsLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ExperimentsLog::ExperimentsLog(ExperimentsLog&&) noexcept = default;
ExperimentsLog& ExperimentsLog::operator=(ExperimentsLog&&) noexcept = default;
ExperimentsLog::~ExperimentsLog() = default;

Result<ExperimentsLog> ExperimentsLog::open(const std::filesystem::path& path) {
    if (path.has_parent_path()) DEEPJIT_CHECK(make_private_directory(path.parent_path()));
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    sqlite3* database = nullptr;
    const int status = sqlite3_open_v2(
        path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, nullptr);
    impl->database.reset(database);
    if (status != SQLITE_OK) return impl->error("opened");
    sqlite3_busy_timeout(database, kBusyTimeoutMilliseconds);

    DEEPJIT_TRY(const int version, impl->user_version());
    if (version > kLogSchemaVersion)
        return failure(
            fmt::format("the experiments log '{}' was written by a newer deepjit (format {}, this one "
                        "knows {})",
                        printable(path.string()), version, kLogSchemaVersion),
            {}, "move it away, or use that version");
    if (version < kLogSchemaVersion) {
        const std::string script =
            fmt::format("BEGIN IMMEDIATE;{}PRAGMA user_version = {};COMMIT;", kSchema, kLogSchemaVersion);
        if (sqlite3_exec(database, script.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
            return impl->error("created");
    }
    return ExperimentsLog(std::move(impl));
}

Result<void> ExperimentsLog::add(const Experiment& experiment) {
    DEEPJIT_TRY(const Statement statement, impl_->prepare(kInsert));
    sqlite3_stmt* const insert = statement.get();
    bind_text(insert, 1, experiment.chain_name);
    bind_text(insert, 2, experiment.chain_hash);
    bind_text(insert, 3, experiment.source_hash);
    bind_text(insert, 4, experiment.configuration);
    bind_text(insert, 5, experiment.architecture);
    bind_text(insert, 6, experiment.device_name);
    bind_text(insert, 7, experiment.outcome);
    bind_text(insert, 8, experiment.reason);
    if (experiment.registers_per_thread) sqlite3_bind_int(insert, 9, *experiment.registers_per_thread);
    if (experiment.local_bytes_per_thread) sqlite3_bind_int64(insert, 10, *experiment.local_bytes_per_thread);
    if (experiment.error) sqlite3_bind_double(insert, 11, *experiment.error);
    if (experiment.time_ns) sqlite3_bind_double(insert, 12, *experiment.time_ns);
    if (sqlite3_step(insert) != SQLITE_DONE) return impl_->error("written");
    return {};
}

Result<std::vector<Experiment>> ExperimentsLog::of_chain(const std::string& chain_hash) const {
    DEEPJIT_TRY(const Statement statement, impl_->prepare(kSelect));
    bind_text(statement.get(), 1, chain_hash);
    std::vector<Experiment> rows;
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(statement.get())) == SQLITE_ROW)
        rows.push_back(row_of(statement.get()));
    if (status != SQLITE_DONE) return impl_->error("read");
    return rows;
}

std::filesystem::path default_experiments_path() {
    return user_cache_directory() / "experiments.db";
}

} // namespace deepjit::verify
