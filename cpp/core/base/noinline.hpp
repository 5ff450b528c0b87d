// PRETOK_NOINLINE keeps a large, rarely called function out of the loops that call it.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#define PRETOK_NOINLINE __declspec(noinline)
#else
#define PRETOK_NOINLINE __attribute__((noinline))
#endif
