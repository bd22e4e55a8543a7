#pragma once

#include "src/base/result.hpp"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

/// The few SQLite calls a trace needs, with errors as Diagnostics that name the file.
namespace deepjit::trace {

/// Bytes to be stored as a BLOB; a plain string_view is stored as TEXT. Both keep every byte.
struct Blob {
    std::string_view bytes;
};

/// A prepared statement. It must not outlive its Database.
class Statement {
  public:
    Statement() = default;

    /// Binds the parameters in order, runs the statement to its end and makes it ready for the next call.
    template <class... Values>
    Result<void> run(const Values&... values) {
        int index = 0;
        (bind(++index, values), ...);
        return run_once();
    }

    template <std::integral Value>
    void bind(int index, Value value) {
        bind_integer(index, static_cast<std::int64_t>(value));
    }
    void bind(int index, std::string_view text);
    void bind(int index, Blob blob);
    void bind(int index, const std::optional<std::int64_t>& value);
    void bind(int index, const std::optional<std::string>& text);
    void bind(int index, double value); ///< not-a-number becomes NULL

    /// True while there is a row to read.
    Result<bool> step();

    std::int64_t integer(int column) const;
    double real(int column) const;
    template <std::integral Value>
    void read(int column, Value& value) const {
        value = static_cast<Value>(integer(column));
    }
    std::string bytes(int column) const;
    bool is_null(int column) const;

  private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    Statement(sqlite3_stmt* statement, std::filesystem::path shown_as);
    void bind_integer(int index, std::int64_t value);
    Result<void> run_once();

    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    std::filesystem::path shown_as_;
};

class Database {
  public:
    /// Read-only and defensive: no extension, no ATTACH, no view, no trigger, no function called by the
    /// schema.
    static Result<Database> open_read_only(const std::filesystem::path& path);
    /// An empty file to be filled in one go: no journal and no fsync, so a failure leaves it useless.
    /// Errors name `shown_as`, where the file will be in the end.
    static Result<Database> open_for_building(const std::filesystem::path& path,
                                              const std::filesystem::path& shown_as);

    /// Runs statements that return no rows.
    Result<void> execute(std::string_view sql);
    Result<Statement> prepare(std::string_view sql) const;
    /// First column of the only row.
    Result<std::int64_t> query_integer(std::string_view sql) const;
    std::int64_t last_insert_id() const;
    void close();

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    static Result<Database> open(const std::filesystem::path& path, const std::filesystem::path& shown_as,
                                 int flags);

    std::unique_ptr<sqlite3, Close> database_;
    std::filesystem::path shown_as_;
};

/// Every row that `sql` answers, each read by `read_row`.
template <class Record>
Result<std::vector<Record>> read_all(const Database& database, std::string_view sql,
                                     void (*read_row)(const Statement&, Record&)) {
    DEEPJIT_TRY(Statement statement, database.prepare(sql));
    std::vector<Record> records;
    for (;;) {
        DEEPJIT_TRY(const bool has_row, statement.step());
        if (!has_row) return records;
        read_row(statement, records.emplace_back());
    }
}

} // namespace deepjit::trace
