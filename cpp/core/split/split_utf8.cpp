// Compiles the splitting of UTF-8, once for all files that split it.
#include "core/split/pre_tokenizer.hpp"

namespace pretok {

template Machine::Match Machine::match(Text<Utf8> &, std::size_t) const;
template void PreTokenizer::split(const Utf8 &, const Kernels &, EndOutput &) const;
template void PreTokenizer::cut(std::size_t, const Utf8 &, std::size_t, int, const Kernels *,
                                const OnPiece &) const;

} // namespace pretok
