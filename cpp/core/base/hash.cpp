#include "core/base/hash.hpp"

#if !defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
#include <chrono>
#include <exception>
#include <random>
#endif

namespace pretok {
namespace {

#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
HashKey make_hash_key() noexcept { return {0x243F6A8885A308D3, 0x13198A2E03707344}; }
#else
// Mixes several sources of randomness, since no single source is random on every system.
HashKey make_hash_key() noexcept {
  HashKey key{0x243F6A8885A308D3, 0x13198A2E03707344};
  const auto mix = [&key](std::uint64_t one, std::uint64_t two) {
    key = HashKey{key.one ^ one, key.two ^ two}.next();
  };
  mix(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()),
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
  // Addresses differ from process to process.
  mix(reinterpret_cast<std::uintptr_t>(&key),
      reinterpret_cast<std::uintptr_t>(static_cast<HashKey (*)()>(hash_key)));
  try {
    std::random_device device;
    const auto word = [&device] { return std::uint64_t{device()} << 32 | device(); };
    const std::uint64_t one = word();
    mix(one, word());
  } catch (const std::exception &) {
    // No random device: the clocks and addresses must suffice.
  }
  return key;
}
#endif

HashKey &process_key() noexcept {
  static HashKey key = make_hash_key();
  return key;
}

} // namespace

HashKey hash_key() noexcept { return process_key(); }

void set_hash_key(const HashKey &key) noexcept { process_key() = key; }

} // namespace pretok
