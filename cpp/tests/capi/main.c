/* Tests of the C interface from C: every function, most statuses, and streams with chunks of
 * many sizes. */
#include "checks.h"

#include <stdlib.h>

int failures = 0;
pretok_error last_error;
char file[1 << 14];
size_t file_size;

static const pretok_special_token SPECIAL[] = {{"<|end|>", 7, END_OF_TEXT},
                                               {"<|x|>", 5, OTHER}};

pretok_load_options standard_options(void) {
  pretok_load_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.preset = "cl100k";
  options.special_tokens = SPECIAL;
  options.special_token_count = 2;
  return options;
}

pretok_tokenizer *load(const pretok_load_options *options) {
  pretok_tokenizer *tokenizer = NULL;
  if (pretok_tokenizer_from_memory(file, file_size, options, &tokenizer, &last_error) !=
      PRETOK_OK) {
    printf("%s\n", last_error.message);
    exit(1);
  }
  return tokenizer;
}

pretok_tokenizer *load_standard(void) {
  const pretok_load_options options = standard_options();
  return load(&options);
}

pretok_encode_options options_with(pretok_special special) {
  pretok_encode_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.special = special;
  return options;
}

int main(void) {
  file_size = write_small_vocabulary(file);
  test_versions_and_presets();
  test_spans();
  test_programs();
  test_loading();
  test_struct_sizes();
  test_files();
  pretok_tokenizer *tokenizer = load_standard();
  test_tokens(tokenizer);
  test_encoding(tokenizer);
  test_encode_spans(tokenizer);
  test_batches(tokenizer);
  test_segments(tokenizer);
  test_gguf_values();
  test_decoding(tokenizer);
  test_decode_stream(tokenizer);
  test_encode_stream(tokenizer);
  for (unsigned seed = 1; seed < 4; ++seed)
    test_chunkings(tokenizer, seed);
  test_memory(tokenizer);
  pretok_tokenizer_free(tokenizer);
  test_nfc();
  test_chains();
  if (failures != 0)
    printf("%d checks failed\n", failures);
  return failures != 0;
}
