/* Encodes standard input as a stream, and prints one token id per line:
 *
 *     ids cl100k_base.tiktoken cl100k < text.txt
 *
 * The preset is necessary if the vocabulary file does not say how to split text. For text with
 * spaces or line ends, the memory does not grow with the size of the text. */
#include "pretok.h"

#include <stdio.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static int complain(const pretok_error *error) {
  fprintf(stderr, "ids: %s\n", error->message);
  return 1;
}

static void print_ids(const uint32_t *ids, size_t count) {
  for (size_t i = 0; i < count; ++i)
    printf("%lu\n", (unsigned long)ids[i]);
}

static int stream_ids(const pretok_tokenizer *tokenizer) {
  static char chunk[1 << 16];
  pretok_encode_options options = {0};
  options.struct_size = sizeof options;
  options.special = PRETOK_SPECIAL_TEXT;
  pretok_encode_stream *stream;
  pretok_error error;
  const uint32_t *ids;
  size_t count;
  size_t size;

  if (pretok_encode_stream_new(tokenizer, &options, &stream, &error) != PRETOK_OK)
    return complain(&error);
  pretok_status status = PRETOK_OK;
  while (status == PRETOK_OK && (size = fread(chunk, 1, sizeof chunk, stdin)) != 0) {
    status = pretok_encode_stream_feed(stream, chunk, size, &ids, &count, &error);
    if (status == PRETOK_OK)
      print_ids(ids, count);
  }
  if (status == PRETOK_OK) {
    status = pretok_encode_stream_finish(stream, &ids, &count, &error);
    if (status == PRETOK_OK)
      print_ids(ids, count);
  }
  pretok_encode_stream_free(stream);
  if (status != PRETOK_OK)
    return complain(&error);
  if (ferror(stdin) || fflush(stdout) != 0) {
    perror("ids");
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: ids VOCABULARY [PRESET] < TEXT\n");
    return 2;
  }
#ifdef _WIN32
  _setmode(_fileno(stdin), _O_BINARY);
#endif
  pretok_load_options options = {0};
  options.struct_size = sizeof options;
  options.preset = argc == 3 ? argv[2] : NULL;
  pretok_tokenizer *tokenizer;
  pretok_error error;
  if (pretok_tokenizer_from_file(argv[1], &options, &tokenizer, &error) != PRETOK_OK)
    return complain(&error);
  const int result = stream_ids(tokenizer);
  pretok_tokenizer_free(tokenizer);
  return result;
}
