#include "core/encode/nfc_source.hpp"

#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <vector>

namespace pretok {

NfcSource find_nfc_source(const std::uint8_t *data, std::size_t size, std::size_t offset) {
  std::vector<std::uint8_t> normalized; // of data[start..end)
  std::size_t normalized_start = 0;
  for (std::size_t start = 0; start < size;) {
    std::size_t end = start + decode_utf8(data + start, size - start).width;
    while (end < size) {
      const Decoded next = decode_utf8(data + end, size - end);
      if (has_nfc_boundary_before(next.code_point))
        break;
      end += next.width;
    }
    normalized.clear();
    to_nfc(data + start, end - start, normalized);
    if (offset < normalized_start + normalized.size()) {
      const bool is_unchanged = normalized.size() == end - start &&
                                std::equal(normalized.begin(), normalized.end(), data + start);
      return {is_unchanged ? start + (offset - normalized_start) : start,
              is_unchanged || offset == normalized_start};
    }
    normalized_start += normalized.size();
    start = end;
  }
  return {size, offset == normalized_start};
}

} // namespace pretok
