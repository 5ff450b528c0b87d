// The share link: it holds the text and the settings in the fragment of the address. Browsers do
// not send the fragment to the server.

/** Maximum characters of a fragment. */
const MAX_FRAGMENT = 100_000;
/** Maximum bytes of a text: a short fragment of a malicious link could unpack to a huge text. */
const MAX_TEXT = 8 << 20;
const TOO_LONG = "The text of this link is longer than 8 MiB; ask for the file instead.";

/** Return the fragment of a text and settings; null if it would be too long. */
export async function toFragment(text, settings) {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_TEXT) return null;
  const packed = await pipe(bytes, new CompressionStream("deflate-raw"));
  if (packed === null) return null;
  const fields = new URLSearchParams(settings);
  fields.set("text", toBase64(packed));
  const fragment = `#${fields}`;
  return fragment.length <= MAX_FRAGMENT ? fragment : null;
}

/**
 * Return {text, settings, problem} of a fragment. `text` is null if the fragment has no text, or if
 * its text is damaged or too long. `problem` is a message for such a text, else "".
 */
export async function fromFragment(fragment) {
  const { text, ...settings } = Object.fromEntries(new URLSearchParams(fragment.slice(1)));
  if (text === undefined) return { text: null, settings, problem: "" };
  try {
    const packed = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    const bytes = await pipe(packed, new DecompressionStream("deflate-raw"));
    if (bytes === null) return { text: null, settings, problem: TOO_LONG };
    return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), settings, problem: "" };
  } catch {
    return { text: null, settings, problem: "The text of this link is damaged; ask for the link again." };
  }
}

/** Return all output of `transform` for `bytes`; null if it is longer than MAX_TEXT. */
async function pipe(bytes, transform) {
  const parts = [];
  let size = 0;
  for await (const part of chunks(new Blob([bytes]).stream().pipeThrough(transform))) {
    size += part.length;
    if (size > MAX_TEXT) return null;
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Yield the chunks of a stream; not every browser can iterate over a stream. */
async function* chunks(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function toBase64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
