// Keeps code that is large and seldom runs out of the loops that may call it.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#define PRETOK_NOINLINE __declspec(noinline)
#else
#define PRETOK_NOINLINE __attribute__((noinline))
#endif
