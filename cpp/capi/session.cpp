// Sessions: a text that changes, and its ids.
#include "core/session/session.hpp"
#include "capi/encode_call.hpp"

#include <vector>

using namespace pretok;

namespace {

// Returns a policy that the caller keeps alive.
Session::Policy policy_of(const AddedTokenPhases *phases) {
  return Session::Policy(std::shared_ptr<const void>(), phases);
}

} // namespace

struct pretok_session {
  const pretok_tokenizer *tokenizer;
  EncodeCall call; // for text that comes without options
  Session session;
  Patch patch;     // that of the last call
  IdBuffer peeked; // the ids of the last peek

  pretok_session(const pretok_tokenizer *used, const EncodeCall &options)
      : tokenizer(used), call(options),
        session(*options.tokenizer, policy_of(&used->policies[PRETOK_SPECIAL_ALLOW]),
                options.first_part) {}
  pretok_session(const pretok_session &other)
      : tokenizer(other.tokenizer), call(other.call), session(other.session) {}
};

namespace {

void return_patch(const pretok_session &session, pretok_patch &patch) {
  const Patch &made = session.patch;
  patch = {made.keep, made.tail, made.count == 0 ? &NO_IDS : made.ids, made.count};
}

// Reads the options of a text of a session.
pretok_status read_call(const pretok_session &session, const pretok_encode_options *options,
                        EncodeCall &call, pretok_error *error) {
  call = session.call;
  if (options == nullptr)
    return PRETOK_OK;
  if (const pretok_status status = call.read(*session.tokenizer, options, error))
    return status;
  if (call.add_special_tokens || call.first_part == Encoder::Part::LATER)
    return fail(error, PRETOK_INVALID_ARGUMENT,
                "the options of a text of a session have add_special_tokens or continuation; "
                "pass continuation to pretok_session_new, and put the ids of the template "
                "around those of the session");
  return PRETOK_OK;
}

pretok_status check_call(pretok_session *session, const char *text, std::size_t size,
                         pretok_patch *patch, pretok_error *error) noexcept {
  return check(error, {{session, "the session"}, {text, "text", size != 0}, {patch, "patch"}});
}

// Returns the size of the text, or 0 for the missing session that check_call then finds.
std::size_t end_of(const pretok_session *session) noexcept {
  return session != nullptr ? session->session.dropped() + session->session.text().size() : 0;
}

// Checks that the session keeps its text.
pretok_status check_text(const pretok_session &session, pretok_error *error) noexcept {
  if (!session.session.drops_text())
    return PRETOK_OK;
  return fail(error, PRETOK_INVALID_ARGUMENT,
              "the session drops its text; only append, peek, extend and fork are possible "
              "after pretok_session_drop_text");
}

// Checks the arguments. If they are valid, calls change(text, policy, cache), which changes the
// session and returns a Refusal. `position` is the offset of `text` in the whole text.
template <typename Change>
pretok_status make_change(pretok_session *session, const char *text, std::size_t size,
                          std::size_t position, const pretok_encode_options *options,
                          pretok_patch *patch, pretok_error *error, Change change) noexcept {
  if (const pretok_status status = check_call(session, text, size, patch, error))
    return status;
  return guarded(error, [&] {
    EncodeCall call;
    if (const pretok_status status = read_call(*session, options, call, error))
      return status;
    const auto *const data = reinterpret_cast<const std::uint8_t *>(text);
    if (const pretok_status status = call.check_bytes(data, size, position, error))
      return status;
    const CacheLease cache(call.tokenizer->caches());
    const Refusal refusal = change(data, policy_of(call.policy), *cache);
    if (const pretok_status status = call.refuse(refusal, 0, error))
      return status;
    return_patch(*session, *patch);
    return PRETOK_OK;
  });
}

// Checks that the session keeps its text, and the range from `start` to `end`.
pretok_status check_range(const pretok_session &session, std::size_t start, std::size_t end,
                          std::size_t size, const char *unit, pretok_error *error) noexcept {
  if (const pretok_status status = check_text(session, error))
    return status;
  if (start <= end && end <= size)
    return PRETOK_OK;
  return fail(error, PRETOK_INVALID_ARGUMENT,
              "the range from %zu to %zu is not in the %zu %s of the session", start, end, size,
              unit);
}

} // namespace

pretok_status pretok_session_new(const pretok_tokenizer *tokenizer,
                                 const pretok_encode_options *options, pretok_session **result,
                                 pretok_error *error) noexcept {
  return guarded(error, {{tokenizer, "the tokenizer"}, {result, "result"}}, [&] {
    EncodeCall call;
    if (const pretok_status status = call.read(*tokenizer, options, error))
      return status;
    if (call.add_special_tokens)
      return fail(error, PRETOK_INVALID_ARGUMENT,
                  "a session has no template; put the ids of pretok_template around those of "
                  "the session");
    *result = new pretok_session(tokenizer, call);
    return PRETOK_OK;
  });
}

pretok_status pretok_session_append(pretok_session *session, const char *text, size_t size,
                                    const pretok_encode_options *options, pretok_patch *patch,
                                    pretok_error *error) noexcept {
  return make_change(session, text, size, end_of(session), options, patch, error,
                     [&](auto data, const auto &policy, auto &cache) {
                       const std::size_t end = session->session.text().size();
                       return session->session.replace(end, end, data, size, policy, cache,
                                                       session->patch);
                     });
}

pretok_status pretok_session_peek(pretok_session *session, const char *text, size_t size,
                                  const pretok_encode_options *options, pretok_patch *patch,
                                  pretok_error *error) noexcept {
  return make_change(session, text, size, end_of(session), options, patch, error,
                     [&](auto data, const auto &policy, auto &cache) {
                       return session->session.peek(data, size, policy, cache, session->peeked,
                                                    session->patch);
                     });
}

pretok_status pretok_session_update(pretok_session *session, const char *text, size_t size,
                                    const pretok_encode_options *options, pretok_patch *patch,
                                    pretok_error *error) noexcept {
  if (const pretok_status status = check_call(session, text, size, patch, error))
    return status;
  if (const pretok_status status = check_text(*session, error))
    return status;
  return make_change(session, text, size, 0, options, patch, error,
                     [&](auto data, const auto &policy, auto &cache) {
                       return session->session.update(data, size, policy, cache,
                                                      session->patch);
                     });
}

pretok_status pretok_session_replace(pretok_session *session, size_t start, size_t end,
                                     const char *text, size_t size,
                                     const pretok_encode_options *options, pretok_patch *patch,
                                     pretok_error *error) noexcept {
  if (const pretok_status status = check_call(session, text, size, patch, error))
    return status;
  if (const pretok_status status =
          check_range(*session, start, end, session->session.text().size(), "bytes", error))
    return status;
  return make_change(session, text, size, start, options, patch, error,
                     [&](auto data, const auto &policy, auto &cache) {
                       return session->session.replace(start, end, data, size, policy, cache,
                                                       session->patch);
                     });
}

pretok_status pretok_session_extend(pretok_session *session, const uint32_t *ids, size_t count,
                                    pretok_patch *patch, pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{session, "the session"}, {ids, "ids", count != 0}, {patch, "patch"}}))
    return status;
  return guarded(error, [&] {
    const Decoder &decoder = session->call.tokenizer->decoder();
    const TokenTexts &rendered = decoder.rendered();
    std::vector<std::uint32_t> sizes(count);
    std::vector<std::uint8_t> text;
    for (std::size_t i = 0; i < count; ++i) {
      if (decoder.token(ids[i]).bytes == nullptr)
        continue;
      const TokenView token = rendered[ids[i]];
      sizes[i] = static_cast<std::uint32_t>(token.size);
      text.insert(text.end(), token.bytes, token.bytes + token.size);
    }
    session->session.extend(ids, sizes.data(), count, text.data(),
                            policy_of(session->call.policy), session->patch);
    return_patch(*session, *patch);
    return PRETOK_OK;
  });
}

pretok_status pretok_session_fork(const pretok_session *session, pretok_session **result,
                                  pretok_error *error) noexcept {
  return guarded(error, {{session, "the session"}, {result, "result"}}, [&] {
    *result = new pretok_session(*session);
    return PRETOK_OK;
  });
}

pretok_status pretok_session_spans(const pretok_session *session, size_t first, size_t last,
                                   pretok_span *spans, pretok_error *error) noexcept {
  if (const pretok_status status =
          check(error, {{session, "the session"}, {spans, "spans", first != last}}))
    return status;
  if (const pretok_status status =
          check_range(*session, first, last, session->session.ids().size(), "ids", error))
    return status;
  return guarded(error, [&] {
    Spans found;
    const CacheLease cache(session->call.tokenizer->caches());
    session->session.spans(first, last, *cache, found);
    for (std::size_t i = 0; i < found.starts.size(); ++i)
      spans[i] = {static_cast<std::size_t>(found.starts[i]),
                  static_cast<std::size_t>(found.ends[i])};
    return PRETOK_OK;
  });
}

void pretok_session_drop_text(pretok_session *session) noexcept {
  if (session != nullptr)
    session->session.drop_text();
}

const uint32_t *pretok_session_ids(const pretok_session *session, size_t *count) noexcept {
  const bool is_empty = session == nullptr || session->session.ids().empty();
  if (count != nullptr)
    *count = is_empty ? 0 : session->session.ids().size();
  return is_empty ? &NO_IDS : session->session.ids().data();
}

const char *pretok_session_text(const pretok_session *session, size_t *size) noexcept {
  const bool is_empty = session == nullptr || session->session.text().empty();
  if (size != nullptr)
    *size = is_empty ? 0 : session->session.text().size();
  return is_empty ? "" : reinterpret_cast<const char *>(session->session.text().data());
}

size_t pretok_session_stable(const pretok_session *session) noexcept {
  return session == nullptr ? 0 : session->session.stable();
}

void pretok_session_free(pretok_session *freed) noexcept { delete freed; }
