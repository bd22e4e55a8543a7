# The thin front: installs what is missing, then calls CMake, CTest and the scripts in tests/tools.
.PHONY: build setup demo test bench format clean

JOBS ?= $(shell nproc)
PRESET ?= release
BUILD ?= build

build: setup
	cmake --preset $(PRESET) -B $(BUILD)
	cmake --build $(BUILD) --parallel $(JOBS)

setup:
	@src/cmake/setup

# From an unmodified program to a fused kernel: on this machine's GPU, or on a trace recorded on one.
demo: setup
	cmake --preset $(PRESET) -B $(BUILD)
	cmake --build $(BUILD) --parallel $(JOBS) --target demo_programs
	tests/tools/demo $(BUILD)

# Everything that needs no GPU. With a GPU the tests labelled `gpu` run too; without one they are skipped.
test: build
	tests/tools/run_tests $(BUILD)

bench: build
	cmake --build $(BUILD) --parallel $(JOBS) --target deepjit_bench
	$(BUILD)/tests/deepjit_bench

format:
	@src/cmake/setup format
	@tests/tools/check_format --fix

clean:
	rm -rf build
