// Loads the vocabulary of a GGUF file with llama.cpp, without its models.
// llama_tokenize and the other functions take the result as a `const llama_vocab *`.
#include "llama-model-loader.h"
#include "llama-vocab.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

extern "C" {

// Returns nullptr if llama.cpp refuses the file; pretok_test_error() then says why.
llama_vocab *pretok_test_load(const char *path);
const char *pretok_test_error();
void pretok_test_free(llama_vocab *vocabulary);
}

namespace {
std::string error;
}

llama_vocab *pretok_test_load(const char *path) {
  try {
    std::vector<std::string> splits;
    llama_model_loader loader(nullptr, nullptr, nullptr, path, splits, nullptr,
                              LLAMA_LOAD_MODE_NONE, false, true, false, nullptr, nullptr);
    auto vocabulary = std::make_unique<llama_vocab>();
    vocabulary->load(loader, LLM_KV(loader.get_arch()));
    return vocabulary.release();
  } catch (const std::exception &problem) {
    error = problem.what();
    return nullptr;
  }
}

const char *pretok_test_error() { return error.c_str(); }

void pretok_test_free(llama_vocab *vocabulary) { delete vocabulary; }

// The loader calls these functions of llama.cpp only for a model in several files.
int32_t llama_split_path(char *, size_t, const char *, int32_t, int32_t) { return 0; }
int32_t llama_split_prefix(char *, size_t, const char *, int32_t, int32_t) { return 0; }
