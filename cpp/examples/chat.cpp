// Shows an inference loop for a chat. It encodes a message, passes the ids to a model, and
// decodes the ids of the model as they arrive. Each line of standard input is a message:
//
//     chat cl100k_base.tiktoken cl100k
//
// The model of this example only repeats the message.
#include "pretok.hpp"

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Ids = std::vector<std::uint32_t>;

// Takes the place of a model, and repeats earlier ids. next() gets all ids so far, and returns
// the id that is `distance` positions before the next position.
struct Echo {
  std::size_t distance;

  std::uint32_t next(const Ids &context) const { return context[context.size() - distance]; }
};

int complain(const pretok::Error &error) {
  std::fprintf(stderr, "chat: %s\n", error.message.c_str());
  return 1;
}

// Appends the ids of a text to `context`. `special` allows or refuses special tokens in the
// text.
pretok_status append(const pretok::Tokenizer &tokenizer, std::string_view text,
                     pretok_special special, Ids &context) {
  pretok::EncodeOptions options;
  options.special = special;
  const auto ids = tokenizer.encode(text, options);
  if (!ids) {
    complain(ids.error());
    return ids.error().status;
  }
  context.insert(context.end(), ids->begin(), ids->end());
  return PRETOK_OK;
}

// Generates ids until the model ends its turn. Prints text as soon as it is complete UTF-8.
pretok_status answer(const pretok::Tokenizer &tokenizer, const Echo &model,
                     std::uint32_t end_of_turn, Ids &context) {
  auto stream = pretok::DecodeStream::of(tokenizer);
  if (!stream) {
    complain(stream.error());
    return stream.error().status;
  }
  for (;;) {
    const std::uint32_t id = model.next(context);
    context.push_back(id);
    const auto text = id == end_of_turn ? stream->finish() : stream->feed(id);
    if (!text) {
      complain(text.error());
      return text.error().status;
    }
    std::cout << *text << std::flush;
    if (id == end_of_turn)
      return PRETOK_OK;
  }
}

int chat(const pretok::Tokenizer &tokenizer, std::uint32_t end_of_turn) {
  Ids context;
  std::string message;
  while (std::getline(std::cin, message)) {
    Ids turn = context;
    if (append(tokenizer, "<|im_start|>user\n", PRETOK_SPECIAL_ALLOW, turn))
      return 1;
    const std::size_t start = turn.size();
    // Refuse a message that contains the text of a special token. Otherwise a user could end
    // the turn or start a system message.
    if (const auto status = append(tokenizer, message, PRETOK_SPECIAL_RAISE, turn)) {
      if (status != PRETOK_SPECIAL_TOKEN)
        return 1;
      std::cout << "(refused)\n";
      continue;
    }
    if (append(tokenizer, "<|im_end|>\n<|im_start|>assistant\n", PRETOK_SPECIAL_ALLOW, turn))
      return 1;
    context = std::move(turn);
    std::cout << context.size() << " ids; ";
    if (answer(tokenizer, Echo{context.size() - start}, end_of_turn, context))
      return 1;
    std::cout << '\n';
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: chat VOCABULARY PRESET < MESSAGES\n");
    return 2;
  }
  pretok::LoadOptions options;
  options.preset = argv[2];
  // Use ids above those of any vocabulary. The files of a real model define its special tokens.
  options.special_tokens = {{"<|im_start|>", 1'000'000}, {"<|im_end|>", 1'000'001}};
  const auto tokenizer = pretok::Tokenizer::from_file(argv[1], options);
  if (!tokenizer)
    return complain(tokenizer.error());
  const auto end_of_turn = tokenizer->token_id("<|im_end|>");
  if (!end_of_turn)
    return complain(end_of_turn.error());
  return chat(*tokenizer, *end_of_turn);
}
