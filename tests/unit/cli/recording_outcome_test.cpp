#include "cli/recording_outcome.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepjit::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ingest::ProcessSummary watched_process() {
    ingest::ProcessSummary process;
    process.process_id = 7;
    process.cupti_opened = true;
    process.subscribed = true;
    process.driver_initialised = true;
    process.ended = true;
    return process;
}

ingest::ImportSummary summary_of(std::vector<ingest::ProcessSummary> processes) {
    ingest::ImportSummary summary;
    for (const auto& process : processes) {
        summary.driver_initialised = summary.driver_initialised || process.driver_initialised;
        summary.launches_called += process.launches_called;
        summary.kernels_recorded += process.kernels_recorded;
    }
    summary.processes = std::move(processes);
    return summary;
}

TEST(RecordingOutcome, no_process_at_all_means_the_driver_was_never_initialised) {
    const auto outcome = judge_recording({});
    EXPECT_EQ(outcome.state, RecordingState::DriverNotInitialised);
    EXPECT_THAT(outcome.warnings, IsEmpty());
}

TEST(RecordingOutcome, a_driver_with_no_launch_is_told_from_one_never_initialised) {
    EXPECT_EQ(judge_recording(summary_of({watched_process()})).state, RecordingState::NothingLaunched);
}

TEST(RecordingOutcome, a_process_killed_before_it_wrote_anything_is_not_taken_for_one_without_CUDA) {
    auto process = watched_process();
    process.driver_initialised = false;
    process.ended = false;
    EXPECT_EQ(judge_recording(summary_of({process})).state, RecordingState::CutOff);
}

TEST(RecordingOutcome, a_killed_process_is_said_to_lack_its_last_moments) {
    auto killed = watched_process();
    killed.ended = false;
    killed.kernels_recorded = 90;
    killed.launches_called = 120;
    killed.launches_without_kernels = 30;
    const auto outcome = judge_recording(summary_of({killed}));
    EXPECT_EQ(outcome.state, RecordingState::Recorded);
    ASSERT_THAT(outcome.warnings, SizeIs(1));
    EXPECT_THAT(outcome.warnings[0].message, HasSubstr("the last moments of process 7"));
    EXPECT_THAT(outcome.warnings[0].evidence, HasSubstr("30 launches are recorded without their kernels"));
    // One that still runs, or whose recording stopped for a reason of its own, is told of elsewhere.
    EXPECT_THAT(judge_recording(summary_of({killed}), {7}).warnings, IsEmpty());
    killed.reached_size_limit = true;
    EXPECT_THAT(judge_recording(summary_of({killed})).warnings, SizeIs(1));
    killed.reached_size_limit = false;
    killed.recorded_to_the_end = false; // its window was complete
    EXPECT_THAT(judge_recording(summary_of({killed})).warnings, IsEmpty());
    killed.recorded_to_the_end = true;
    killed.ended = true;
    EXPECT_THAT(judge_recording(summary_of({killed})).warnings, IsEmpty());
}

TEST(RecordingOutcome, many_killed_processes_share_one_warning) {
    std::vector<ingest::ProcessSummary> processes;
    for (std::uint32_t id = 1; id <= 5; ++id) {
        processes.push_back(watched_process());
        processes.back().process_id = id;
        processes.back().ended = false;
        processes.back().kernels_recorded = processes.back().launches_called = 1;
    }
    const auto outcome = judge_recording(summary_of(processes));
    ASSERT_THAT(outcome.warnings, SizeIs(1));
    EXPECT_THAT(outcome.warnings[0].message, HasSubstr("process 1, 2, 3 and 2 more"));
}

TEST(RecordingOutcome, a_process_killed_just_after_its_first_launches_did_not_lose_their_records) {
    auto process = watched_process();
    process.ended = false;
    process.launches_called = 30;
    process.launched_for_ns = 20'000'000;
    EXPECT_EQ(judge_recording(summary_of({process})).state, RecordingState::CutOff);
    process.launched_for_ns = 5'000'000'000; // long enough for a hundred flushes
    EXPECT_EQ(judge_recording(summary_of({process})).state, RecordingState::RecordsMissing);
}

TEST(RecordingOutcome, launches_without_records_carry_the_cause_of_CUPTI) {
    auto process = watched_process();
    process.launches_called = 30;
    process.cupti_error = 39;
    process.error_text = "cuptiSubscribe answered 39";
    const auto outcome = judge_recording(summary_of({process}));
    EXPECT_EQ(outcome.state, RecordingState::RecordsMissing);
    EXPECT_EQ(outcome.explanation.kind, ErrorKind::Environment);
    EXPECT_EQ(outcome.explanation.message, "the program launched kernels, but no record of them arrived");
    EXPECT_EQ(outcome.explanation.evidence, "cuptiSubscribe answered 39");
    EXPECT_THAT(outcome.explanation.hint, HasSubstr("another profiler"));
}

TEST(RecordingOutcome, a_tracer_that_could_not_watch_is_no_proof_that_nothing_was_launched) {
    auto process = watched_process();
    process.cupti_opened = false;
    process.subscribed = false;
    process.error_text = "libcupti.so.13 was not found";
    const auto outcome = judge_recording(summary_of({process}));
    EXPECT_EQ(outcome.state, RecordingState::RecordsMissing);
    EXPECT_EQ(outcome.explanation.message, "the program used CUDA, but the tracer could not watch it");
}

TEST(RecordingOutcome, a_program_that_used_nvtx_alone_never_initialised_the_driver) {
    ingest::ProcessSummary process;
    process.reached_cuda = false;
    for (const bool ended : {true, false}) { // killed or not: it had not called cuInit
        process.ended = ended;
        const auto outcome = judge_recording(summary_of({process}));
        EXPECT_EQ(outcome.state, RecordingState::DriverNotInitialised);
        EXPECT_THAT(outcome.warnings, IsEmpty());
    }
    auto recorded = watched_process();
    recorded.kernels_recorded = 9;
    const auto outcome = judge_recording(summary_of({process, recorded}));
    EXPECT_EQ(outcome.state, RecordingState::Recorded);
    EXPECT_THAT(outcome.warnings, IsEmpty());
}

TEST(RecordingOutcome, each_known_cause_has_its_own_remedy) {
    EXPECT_THAT(explain_missing_records(15, "").hint, HasSubstr("stub libcuda"));
    EXPECT_THAT(explain_missing_records(35, "").hint, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
    EXPECT_THAT(explain_missing_records(40, "").hint, HasSubstr("CAP_SYS_ADMIN"));
    EXPECT_THAT(explain_missing_records(39, "").hint, HasSubstr("run it without that one"));
    EXPECT_THAT(explain_missing_records(999, "").hint, HasSubstr("deepjit doctor"));
    EXPECT_EQ(explain_missing_records(999, "").evidence, "CUPTI error 999");
    EXPECT_EQ(explain_missing_records(0, "").evidence,
              "every call to CUPTI succeeded, and yet it handed over none");
}

TEST(RecordingOutcome, one_silent_process_beside_one_that_was_recorded_is_a_warning) {
    auto recorded = watched_process();
    recorded.launches_called = recorded.kernels_recorded = 30;
    auto silent = watched_process();
    silent.process_id = 8;
    silent.launches_called = 5;
    const auto outcome = judge_recording(summary_of({recorded, silent}));
    EXPECT_EQ(outcome.state, RecordingState::Recorded);
    ASSERT_THAT(outcome.warnings, SizeIs(1));
    EXPECT_EQ(outcome.warnings[0].message, "no kernel of process 8 was recorded");
}

TEST(RecordingOutcome, a_flush_that_hung_after_some_kernels_is_a_warning) {
    auto process = watched_process();
    process.launches_called = process.kernels_recorded = 30;
    process.flush_hangs = true;
    process.error_text = "cuptiActivityFlushAll did not return";
    const auto outcome = judge_recording(summary_of({process}));
    EXPECT_EQ(outcome.state, RecordingState::Recorded);
    ASSERT_THAT(outcome.warnings, SizeIs(1));
    EXPECT_EQ(outcome.warnings[0].message, "the last kernels of process 7 may be missing");
    EXPECT_EQ(outcome.warnings[0].evidence, "cuptiActivityFlushAll did not return");
}

TEST(RecordingOutcome, everything_that_the_trace_lacks_is_said) {
    auto process = watched_process();
    process.launches_called = process.kernels_recorded = 3000;
    process.write_error = "No space left on device";
    auto summary = summary_of({process});
    summary.dropped_records = 1200;
    summary.lost_bytes = 4096;
    summary.zero_timestamps = 2;
    const auto outcome = judge_recording(summary);
    ASSERT_THAT(outcome.warnings, SizeIs(4));
    EXPECT_EQ(outcome.warnings[0].message, "recording of process 7 stopped early");
    EXPECT_EQ(outcome.warnings[0].evidence, "No space left on device");
    EXPECT_EQ(outcome.warnings[1].message, "CUPTI dropped 1,200 records");
    EXPECT_THAT(outcome.warnings[2].message, HasSubstr("4.00 KiB"));
    EXPECT_EQ(outcome.warnings[3].message, "2 kernels have no times");
}

} // namespace
} // namespace deepjit::cli
