// Checks the status and the message to which guarded() converts each type of exception.
#include "capi/status.hpp"

#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace {

using namespace pretok;

struct Case {
  std::function<pretok_status()> work;
  pretok_status status;
  const char *part; // part of the message
};

} // namespace

int main() {
  std::vector<char> none;
  const Case cases[] = {
      {[] { return PRETOK_OK; }, PRETOK_OK, ""},
      {[]() -> pretok_status { throw std::bad_alloc(); }, PRETOK_OUT_OF_MEMORY,
       "enough memory"},
      {[]() -> pretok_status { throw std::bad_array_new_length(); }, PRETOK_OUT_OF_MEMORY,
       "enough memory"},
      {[&none] { return none.reserve(none.max_size() + 1), PRETOK_OK; }, PRETOK_OUT_OF_MEMORY,
       "too large"},
      {[&none] { return none.at(1), PRETOK_OK; }, PRETOK_INTERNAL, "please report it"},
      {[]() -> pretok_status { throw std::system_error(std::error_code()); }, PRETOK_INTERNAL,
       "internal error: "},
      {[]() -> pretok_status { throw std::logic_error("no \"such\" thing"); }, PRETOK_INTERNAL,
       "internal error: no \"such\" thing; please report it"},
      {[]() -> pretok_status { throw 1; }, PRETOK_INTERNAL, "unknown exception"}};
  int failures = 0;
  for (const Case &each : cases) {
    pretok_error error{};
    if (guarded(&error, each.work) == each.status && error.status == each.status &&
        std::strstr(error.message, each.part) != nullptr &&
        guarded(nullptr, each.work) == each.status)
      continue;
    std::printf("got %d, expected %d: %s\n", error.status, each.status, error.message);
    ++failures;
  }
  std::printf("%d failed\n", failures);
  return failures != 0;
}
