#pragma once

/// A library of a target, with an NVTX of its own: its calls do not pass through that of the program.
extern "C" {
/// Creates a domain there, pushes a range of it and one of the default domain, calls, and pops both; returns
/// how often a level was not what NVTX promises.
int nvtx_library_run(void (*inside)());
/// Registers a string there; the handle is as good anywhere in the process.
void* nvtx_library_register(const char* text);
}
