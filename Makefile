# The thin front: installs what is missing, then calls CMake, CTest and the scripts in tests/tools.
.PHONY: build setup demo test bench format clean

JOBS ?= $(shell nproc)
PRESET ?= release

build: setup
	cmake --preset $(PRESET) -B build
	cmake --build build --parallel $(JOBS)

setup:
	@src/cmake/setup

# From an unmodified program to a fused kernel: on this machine's GPU, or on a trace recorded on one.
demo: setup
	cmake --preset $(PRESET) -B build
	cmake --build build --parallel $(JOBS) --target demo_programs
	tests/tools/demo build

# Everything that needs no GPU. With a GPU the tests labelled `gpu` run too; without one they are skipped.
test: build
	tests/tools/run_tests build

bench: build
	cmake --build build --parallel $(JOBS) --target deepjit_bench
	build/tests/deepjit_bench

format:
	@src/cmake/setup format
	@tests/tools/check_format --fix

clean:
	rm -rf build
