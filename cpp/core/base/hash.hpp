// Hash functions for tables whose keys come from a file or a text.
//
// An attacker who knows the hash function of a table can choose keys that all fall into one
// slot, so that n insertions take n^2 steps. So the hash functions take a secret HashKey, which
// is drawn at random once per process. Only hash_without_key has no key. The results of pretok
// never depend on the key.
#pragma once

#include "core/base/bits.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pretok {

// Returns the exclusive or of the two halves of the 128-bit product. Each bit of the result
// depends on all bits of `a` and `b`.
inline std::uint64_t mul_fold(std::uint64_t a, std::uint64_t b) {
  const WideProduct product = multiply_wide(a, b);
  return product.high ^ product.low;
}

// A secret key. It selects one function of a family of hash functions. Each table copies the
// key when it is built.
struct HashKey {
  std::uint64_t one;
  std::uint64_t two;

  // Returns another key, which is computed from this key. A table with too many collisions is
  // rebuilt with it.
  HashKey next() const {
    return {mul_fold(one ^ 0x9E3779B97F4A7C15, two ^ 0xD6E8FEB86659FD93),
            mul_fold(one ^ 0xA0761D6478BD642F, two ^ 0xE7037ED1A0B428DB)};
  }
};

// Returns the secret key of this process. Never throws; fixed in builds for fuzzing.
HashKey hash_key() noexcept;

// Replaces the key of this process. Tests call it before they build tables.
void set_hash_key(const HashKey &key) noexcept;

// Hashes the 128 bits of `low` and `high`. Each bit of the hash depends on all of these bits.
// Both factors of the product are secret. So an attacker can neither make a factor 0 nor
// predict the difference of two products.
inline std::uint64_t hash_words(std::uint64_t low, std::uint64_t high, const HashKey &key) {
  return mul_fold(low ^ key.one, high ^ key.two);
}

// Loads eight bytes in the byte order of the processor.
inline std::uint64_t load_word(const std::uint8_t *from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Hashes `size` >= 16 bytes. Each step combines a block of 16 bytes with the state: the hash of
// all earlier blocks. The state is secret. If two inputs differ in a block, their states after
// this block differ by a secret amount. So an attacker cannot choose later blocks that make the
// two states equal again.
inline std::uint64_t hash_long(const std::uint8_t *bytes, std::size_t size,
                               const HashKey &key) {
  constexpr std::size_t BLOCK = 16;
  std::uint64_t state = hash_words(size, 0, key);
  for (std::size_t at = 0; at < size - BLOCK; at += BLOCK)
    state = hash_words(load_word(bytes + at) ^ state, load_word(bytes + at + 8), key);
  // The last block overlaps the one before it, unless the size is a multiple of BLOCK.
  return hash_words(load_word(bytes + size - BLOCK) ^ state, load_word(bytes + size - 8), key);
}

// Hashes two numbers below 2^21. Callers must ignore the lowest 20 bits of the hash. For two
// unequal pairs and a random key, the difference of their hashes is uniformly distributed in
// its upper 44 bits. Proof: the difference is x * key.one + y * key.two, where x and y are the
// differences of the left and of the right numbers. They are not both 0, and each is between
// -2^21 and 2^21. So the greatest 2^t that divides both has t <= 20, and the difference of the
// hashes is uniform among the multiples of 2^t.
inline std::uint64_t hash_pair(std::uint32_t left, std::uint32_t right, const HashKey &key) {
  return left * key.one + right * key.two;
}

// Hashes a number without a key. It is for filters and caches in which a collision costs only
// one false positive or one comparison. Callers use only the top bits of the hash: a low bit
// depends on no higher bit of the number.
inline std::uint64_t hash_without_key(std::uint64_t number) {
  return number * 0x9E3779B97F4A7C15;
}

// A rolling hash of strings of any length: a polynomial at a secret point, modulo the prime
// 2^61 - 1. The modulus 2^64 would be unsafe: strings would collide whatever the secret is. A
// Thue-Morse string of 1,024 or more bytes and its complement (the string with its two letters
// exchanged) collide at every odd point. Two strings with the same last 64 bytes collide at
// every even point, since its 64th power is 0 modulo 2^64.
class RollingHash {
public:
  static constexpr std::uint64_t PRIME = (std::uint64_t{1} << 61) - 1;

  explicit RollingHash(const HashKey &key) : key_(key), base_(hash_words(0, 2, key) % PRIME) {}

  // Returns the point. The hash of the concatenation a + b is hash(a) * base()^length(b) +
  // hash(b).
  std::uint64_t base() const { return base_; }
  // Returns the hash of a string of one unit. A unit is a byte, or the number of a character.
  std::uint64_t of_one(std::uint32_t unit) const { return hash_words(unit, 1, key_) % PRIME; }

  // Returns a * b + c modulo PRIME. All three are less than PRIME.
  static std::uint64_t multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const WideProduct product = multiply_wide(a, b);
    const std::uint64_t sum =
        (product.low & PRIME) + (product.high << 3 | product.low >> 61) + c;
    return sum % PRIME;
  }

private:
  HashKey key_;
  std::uint64_t base_;
};

} // namespace pretok
