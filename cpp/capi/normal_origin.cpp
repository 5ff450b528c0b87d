#include "capi/normal_origin.hpp"

#include "core/unicode/nfc.hpp"
#include "core/unicode/utf8.hpp"

#include <algorithm>
#include <vector>

namespace pretok {

NormalOrigin normal_origin(const std::uint8_t *data, std::size_t size, std::size_t wanted) {
  std::vector<std::uint8_t> normal;
  std::size_t made = 0;
  for (std::size_t start = 0; start < size;) {
    std::size_t end = start + decode_utf8(data + start, size - start).width;
    while (end < size) {
      const Decoded next = decode_utf8(data + end, size - end);
      if (has_nfc_boundary_before(next.code_point))
        break;
      end += next.width;
    }
    normal.clear();
    to_nfc(data + start, end - start, normal);
    if (wanted < made + normal.size()) {
      const bool same = normal.size() == end - start &&
                        std::equal(normal.begin(), normal.end(), data + start);
      return {same ? start + (wanted - made) : start, same || wanted == made};
    }
    made += normal.size();
    start = end;
  }
  return {size, wanted == made};
}

} // namespace pretok
