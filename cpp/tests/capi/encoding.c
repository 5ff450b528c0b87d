/* Tokens, encoding, and sets of special tokens. */
#include "checks.h"

void test_tokens(const pretok_tokenizer *tokenizer) {
  const char *bytes = NULL;
  size_t size = 0;
  uint32_t id = 0;
  CHECK(strcmp(pretok_tokenizer_preset(tokenizer), "cl100k") == 0);
  CHECK(strcmp(pretok_tokenizer_preset(NULL), "") == 0);
  CHECK(pretok_vocab_size(tokenizer) == OTHER + 1);
  CHECK(pretok_vocab_size(NULL) == 0);
  for (uint32_t known = 0; known < SMALL_COUNT; ++known) {
    CHECK(pretok_token_bytes(tokenizer, known, &bytes, &size, &last_error) == PRETOK_OK);
    CHECK(pretok_token_id(tokenizer, bytes, size, &id, &last_error) == PRETOK_OK &&
          id == known);
    CHECK(!pretok_is_special(tokenizer, known));
  }
  CHECK(pretok_token_bytes(tokenizer, OTHER, &bytes, &size, &last_error) == PRETOK_OK);
  CHECK(size == 5 && memcmp(bytes, "<|x|>", 5) == 0);
  CHECK(pretok_token_id(tokenizer, "<|end|>", 7, &id, &last_error) == PRETOK_OK);
  CHECK(id == END_OF_TEXT && pretok_is_special(tokenizer, END_OF_TEXT));
  CHECK(!pretok_is_special(tokenizer, 999) && !pretok_is_special(tokenizer, 0xFFFFFFFF));
  CHECK(!pretok_is_special(NULL, END_OF_TEXT));
  FAILS(pretok_token_bytes(tokenizer, 999, &bytes, &size, &last_error), PRETOK_UNKNOWN_ID,
        "999");
  FAILS(pretok_token_bytes(tokenizer, 0xFFFFFFFF, &bytes, &size, &last_error),
        PRETOK_UNKNOWN_ID, "4294967295");
  FAILS(pretok_token_bytes(NULL, 0, &bytes, &size, &last_error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_token_bytes(tokenizer, 0, NULL, &size, &last_error), PRETOK_INVALID_ARGUMENT,
        "bytes");
  FAILS(pretok_token_bytes(tokenizer, 0, &bytes, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "size");
  FAILS(pretok_token_id(tokenizer, "zz", 2, &id, &last_error), PRETOK_UNKNOWN_NAME, "zz");
  FAILS(pretok_token_id(tokenizer, "\xE2\x82", 2, &id, &last_error), PRETOK_UNKNOWN_NAME, "??");
  FAILS(pretok_token_id(tokenizer, "", 0, &id, &last_error), PRETOK_UNKNOWN_NAME, "");
  FAILS(pretok_token_id(NULL, "a", 1, &id, &last_error), PRETOK_INVALID_ARGUMENT, "tokenizer");
  FAILS(pretok_token_id(tokenizer, NULL, 1, &id, &last_error), PRETOK_INVALID_ARGUMENT,
        "bytes");
  FAILS(pretok_token_id(tokenizer, "a", 1, NULL, &last_error), PRETOK_INVALID_ARGUMENT, "id");
}

void test_encoding(const pretok_tokenizer *tokenizer) {
  static const char TEXT[] = "hello the world\0 and <|end|>!";
  const size_t size = sizeof TEXT - 1;
  uint32_t ids[64];
  uint32_t more[64];
  size_t count = 0;
  size_t second_count = 0;
  pretok_encode_options options = options_with(PRETOK_SPECIAL_ALLOW);
  CHECK(pretok_encode(tokenizer, TEXT, size, &options, NULL, 0, &count, &last_error) ==
        PRETOK_OK);
  CHECK(pretok_count(tokenizer, TEXT, size, &options, &second_count, &last_error) == PRETOK_OK);
  CHECK(count == second_count && count > 5);
  for (size_t room = 0; room < 64; ++room) {
    memset(ids, 0xEE, sizeof ids);
    const pretok_status status =
        pretok_encode(tokenizer, TEXT, size, &options, ids, room, &second_count, &last_error);
    CHECK(status == (room < count ? PRETOK_TOO_SMALL : PRETOK_OK));
    CHECK(second_count == count && (room >= count || ids[0] == 0xEEEEEEEE));
    if (room == count)
      memcpy(more, ids, sizeof ids);
    CHECK(room < count || memcmp(more, ids, count * sizeof ids[0]) == 0);
  }
  CHECK(ids[count - 2] == END_OF_TEXT && ids[count - 1] == '!');
  CHECK(pretok_encode_bound(tokenizer, size) >= size);
  CHECK(pretok_encode_bound(tokenizer, (size_t)-1) == (size_t)-1 / sizeof(uint32_t));
  CHECK(pretok_encode_bound(tokenizer, (size_t)-1 / 4) == (size_t)-1 / sizeof(uint32_t));
  CHECK(pretok_encode_bound(NULL, 1) == 0);

  uint32_t *new_ids = NULL;
  CHECK(pretok_encode_new(tokenizer, TEXT, size, &options, &new_ids, &second_count,
                          &last_error) == PRETOK_OK);
  CHECK(second_count == count && memcmp(more, new_ids, count * sizeof new_ids[0]) == 0);
  pretok_ids_free(new_ids);
  new_ids = more;
  CHECK(pretok_encode_new(tokenizer, "", 0, &options, &new_ids, &second_count, &last_error) ==
        PRETOK_OK);
  CHECK(second_count == 0 && new_ids != more);
  pretok_ids_free(new_ids);
  new_ids = more;
  FAILS(pretok_encode_new(tokenizer, TEXT, size, NULL, &new_ids, &second_count, &last_error),
        PRETOK_SPECIAL_TOKEN, "<|end|>");
  FAILS(pretok_encode_new(tokenizer, TEXT, size, NULL, NULL, &second_count, &last_error),
        PRETOK_INVALID_ARGUMENT, "ids");
  FAILS(pretok_encode_new(tokenizer, TEXT, size, NULL, &new_ids, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "count");
  CHECK(new_ids == more);
  pretok_ids_free(NULL);

  FAILS(pretok_encode(tokenizer, TEXT, size, NULL, ids, 64, &second_count, &last_error),
        PRETOK_SPECIAL_TOKEN, "<|end|>");
  CHECK(last_error.position == 21);
  FAILS(pretok_count(tokenizer, TEXT, size, NULL, &second_count, &last_error),
        PRETOK_SPECIAL_TOKEN, "21");
  options = options_with(PRETOK_SPECIAL_TEXT);
  CHECK(pretok_count(tokenizer, TEXT, size, &options, &second_count, &last_error) == PRETOK_OK);
  CHECK(second_count > count);

  const char *const texts[] = {"<|x|>", "nothing"};
  const size_t sizes[] = {5, 7};
  pretok_special_set *only = NULL;
  CHECK(pretok_special_set_new(tokenizer, texts, sizes, 1, &only, &last_error) == PRETOK_OK);
  options = options_with(PRETOK_SPECIAL_RAISE);
  options.allowed = only;
  CHECK(pretok_encode(tokenizer, "<|x|><|end|>", 12, &options, ids, 64, &count, &last_error) ==
        PRETOK_OK);
  CHECK(count > 2 && ids[0] == OTHER && ids[1] == '<');
  pretok_tokenizer *another = load_standard();
  FAILS(pretok_count(another, "a", 1, &options, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "another tokenizer");
  pretok_tokenizer_free(another);
  pretok_special_set_free(only);
  pretok_special_set_free(NULL);
  CHECK(pretok_special_set_new(tokenizer, NULL, NULL, 0, &only, &last_error) == PRETOK_OK);
  options.allowed = only;
  CHECK(pretok_count(tokenizer, TEXT, size, &options, &count, &last_error) == PRETOK_OK);
  CHECK(count == second_count); /* the special tokens are encoded as text */
  pretok_special_set_free(only);
  only = NULL;
  FAILS(pretok_special_set_new(tokenizer, texts, sizes, 2, &only, &last_error),
        PRETOK_UNKNOWN_NAME, "nothing");
  FAILS(pretok_special_set_new(NULL, texts, sizes, 1, &only, &last_error),
        PRETOK_INVALID_ARGUMENT, "tokenizer");
  FAILS(pretok_special_set_new(tokenizer, NULL, sizes, 1, &only, &last_error),
        PRETOK_INVALID_ARGUMENT, "texts");
  FAILS(pretok_special_set_new(tokenizer, texts, NULL, 1, &only, &last_error),
        PRETOK_INVALID_ARGUMENT, "sizes");
  FAILS(pretok_special_set_new(tokenizer, texts, sizes, 1, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "result");
  const char *const null_text[] = {NULL};
  FAILS(pretok_special_set_new(tokenizer, null_text, sizes, 1, &only, &last_error),
        PRETOK_INVALID_ARGUMENT, "texts");
  CHECK(only == NULL);

  CHECK(pretok_encode(tokenizer, NULL, 0, NULL, ids, 64, &count, &last_error) == PRETOK_OK);
  CHECK(count == 0);
  FAILS(pretok_encode(NULL, "a", 1, NULL, ids, 1, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_encode(tokenizer, NULL, 1, NULL, ids, 1, &count, &last_error),
        PRETOK_INVALID_ARGUMENT, "text");
  FAILS(pretok_encode(tokenizer, "a", 1, NULL, ids, 1, NULL, &last_error),
        PRETOK_INVALID_ARGUMENT, "count");
  FAILS(pretok_count(NULL, "a", 1, NULL, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "tokenizer");
  FAILS(pretok_count(tokenizer, NULL, 1, NULL, &count, &last_error), PRETOK_INVALID_ARGUMENT,
        "text");
  FAILS(pretok_count(tokenizer, "a", 1, NULL, NULL, &last_error), PRETOK_INVALID_ARGUMENT,
        "count");
}
