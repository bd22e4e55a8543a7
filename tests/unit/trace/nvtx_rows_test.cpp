#include "src/trace/trace.hpp"
#include "tests/unit/trace/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <limits>

namespace deepjit::trace {
namespace {

using Rows = std::vector<std::vector<std::string>>;

class NvtxRows : public testing::Test {
  protected:
    Trace read_back() {
        const auto finished = writer_.finish();
        EXPECT_TRUE(finished) << finished.error().message << finished.error().evidence;
        return *Trace::open(path_);
    }
    /// What a person sees who opens the trace with sqlite3.
    Rows query(const std::string& sql) {
        sqlite3* database = nullptr;
        EXPECT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
        Rows rows;
        char* message = nullptr;
        sqlite3_exec(
            database, sql.c_str(),
            [](void* all, int count, char** values, char**) {
                auto& row = static_cast<Rows*>(all)->emplace_back();
                for (int i = 0; i < count; ++i)
                    row.emplace_back(values[i] != nullptr ? values[i] : "NULL");
                return 0;
            },
            &rows, &message);
        EXPECT_EQ(message, nullptr) << message;
        sqlite3_close(database);
        return rows;
    }

    NvtxRange range(std::string name) {
        NvtxRange row;
        row.range_id = writer_.next_nvtx_range_id();
        row.name = std::move(name);
        row.start_ns = 100 * row.range_id;
        row.end_ns = row.start_ns + 50;
        row.thread_id = 71;
        row.process_id = 7;
        return row;
    }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "trace.db";
    TraceWriter writer_ = *TraceWriter::create(path_);
};

TEST_F(NvtxRows, a_range_comes_back_with_every_field) {
    NvtxRange row = range(std::string("odd \xff\0name", 10));
    row.kind = NvtxKind::StartEnd;
    row.domain_id = writer_.next_nvtx_domain_id();
    row.parent_range_id = 99;
    row.level = 3;
    row.category = 0xFFFF'FFFF;
    row.color = 0xFF00'00FF;
    row.payload_type = NvtxPayloadType::Uint64;
    row.payload_integer = -1;
    writer_.add(row);
    NvtxRange open = range("open");
    open.end_ns.reset();
    open.name.reset();
    open.payload_type = NvtxPayloadType::Double;
    open.payload_real = 0.1;
    writer_.add(open);
    const Trace trace = read_back();

    const auto rows = *trace.nvtx_ranges();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].range_id, 1);
    EXPECT_EQ(rows[0].kind, NvtxKind::StartEnd);
    EXPECT_EQ(rows[0].domain_id, 1);
    EXPECT_EQ(rows[0].name, row.name);
    EXPECT_EQ(rows[0].start_ns, 100);
    EXPECT_EQ(rows[0].end_ns, 150);
    EXPECT_EQ(rows[0].parent_range_id, 99);
    EXPECT_EQ(rows[0].level, 3U);
    EXPECT_EQ(rows[0].category, 0xFFFF'FFFFU);
    EXPECT_EQ(rows[0].color, 0xFF00'00FFU);
    EXPECT_EQ(rows[0].payload_type, NvtxPayloadType::Uint64);
    EXPECT_EQ(rows[0].payload_integer, -1);
    EXPECT_EQ(rows[0].thread_id, 71U);
    EXPECT_EQ(rows[0].process_id, 7U);
    EXPECT_FALSE(rows[1].end_ns);
    EXPECT_FALSE(rows[1].name);
    EXPECT_FALSE(rows[1].color);
    EXPECT_EQ(rows[1].payload_type, NvtxPayloadType::Double);
    EXPECT_EQ(rows[1].payload_real, 0.1);
}

TEST_F(NvtxRows, domains_categories_and_operators_come_back) {
    NvtxDomain domain;
    domain.domain_id = writer_.next_nvtx_domain_id();
    domain.name = "TensorRT";
    domain.start_ns = 10;
    domain.end_ns = 20;
    domain.process_id = 7;
    writer_.add(domain);
    NvtxCategory category;
    category.domain_id = domain.domain_id;
    category.category = 4;
    category.process_id = 7;
    category.name = "before";
    writer_.add(category);
    category.name = "after";
    writer_.add(category);
    NvtxOperator op;
    op.range_id = 5;
    op.framework = "PyTorch";
    op.operator_name = "aten::add";
    op.op_id = 34;
    op.shapes_json = "[[2,3],[]]";
    writer_.add(op);
    const Trace trace = read_back();

    const auto domains = *trace.nvtx_domains();
    ASSERT_EQ(domains.size(), 1U);
    EXPECT_EQ(domains[0].name, "TensorRT");
    EXPECT_EQ(domains[0].end_ns, 20);
    const auto categories = *trace.nvtx_categories();
    ASSERT_EQ(categories.size(), 1U);
    EXPECT_EQ(categories[0].name, "after");
    const auto operators = *trace.nvtx_operators();
    ASSERT_EQ(operators.size(), 1U);
    EXPECT_EQ(operators[0].operator_name, "aten::add");
    EXPECT_FALSE(operators[0].sequence);
    EXPECT_EQ(operators[0].op_id, 34);
    EXPECT_EQ(operators[0].shapes_json, "[[2,3],[]]");
    EXPECT_FALSE(operators[0].input_op_ids_json);
}

TEST_F(NvtxRows, the_views_name_what_the_tables_number) {
    NvtxDomain domain;
    domain.domain_id = writer_.next_nvtx_domain_id();
    domain.name = "app";
    domain.process_id = 7;
    writer_.add(domain);
    NvtxCategory category;
    category.domain_id = domain.domain_id;
    category.category = 4;
    category.process_id = 7;
    category.name = "io";
    writer_.add(category);
    NvtxRange outer = range("frame");
    outer.domain_id = domain.domain_id;
    outer.category = 4;
    outer.color = 0x80FF'0000;
    outer.payload_type = NvtxPayloadType::Float;
    outer.payload_real = 1.5;
    writer_.add(outer);
    NvtxRange inner = range("copy");
    inner.parent_range_id = outer.range_id;
    inner.category = 4; // of the default domain: another category, without a name
    inner.end_ns.reset();
    writer_.add(inner);
    NvtxRange mark = range("here");
    mark.kind = NvtxKind::Mark;
    writer_.add(mark);
    KernelConfig config;
    Kernel kernel;
    kernel.config_id = writer_.add_kernel_config(config);
    kernel.start_ns = kernel.end_ns = 5;
    kernel.nvtx_range_id = inner.range_id;
    writer_.add(kernel);
    kernel.nvtx_range_id = 0;
    writer_.add(kernel);
    EXPECT_EQ(read_back().kernels()->at(0).nvtx_range_id, inner.range_id);

    EXPECT_EQ(
        query("SELECT range_id, kind, domain, name, duration_ns, parent_range_id, category, category_name, "
              "color, payload_type, payload FROM nvtx_ranges ORDER BY range_id"),
        (Rows{{"1", "push-pop", "app", "frame", "50", "NULL", "4", "io", "#80FF0000", "float", "1.5"},
              {"2", "push-pop", "NULL", "copy", "NULL", "1", "4", "NULL", "NULL", "NULL", "NULL"}}));
    EXPECT_EQ(query("SELECT mark_id, name, time_ns, color FROM nvtx_marks"),
              (Rows{{"3", "here", "300", "NULL"}}));
    EXPECT_EQ(query("SELECT nvtx_range_id FROM kernels ORDER BY kernel_id"), (Rows{{"2"}, {"NULL"}}));
}

TEST_F(NvtxRows, a_payload_that_is_no_number_is_absent) {
    NvtxRange row = range("nan");
    row.payload_type = NvtxPayloadType::Double;
    row.payload_real = std::numeric_limits<double>::quiet_NaN();
    writer_.add(row);
    read_back();
    EXPECT_EQ(query("SELECT payload_type, payload FROM nvtx_ranges"), (Rows{{"double", "NULL"}}));
}

} // namespace
} // namespace deepjit::trace
