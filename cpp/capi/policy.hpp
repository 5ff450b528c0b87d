// Special tokens in a text: what each call may do with them.
#pragma once

#include "handles.hpp"

#include <functional>

namespace pretok {

enum class Treatment { RAISE, TEXT, ALLOW };

// What finds the added tokens of a text. Of the special ones only those count for which
// wanted(content) is true.
Policy make_policy(const pretok_tokenizer &tokenizer, Treatment treatment,
                   const std::function<bool(const std::string &)> &wanted);

} // namespace pretok
