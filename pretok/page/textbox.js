// The text, which is typed, pasted or from a file, and its length.

import { grouped, make } from "./elements.js";

// The following lengths are in UTF-16 code units.
/** Browsers paste many lines into a text area slowly, so the page inserts longer texts itself. */
const MAX_PASTED = 5_000;
/** A text area is slow with a longer text than this, so it shows only the first SHOWN units. */
const MAX_EDITED = 100_000;
const SHOWN = 2_000;

export class TextBox {
  #area = document.getElementById("text");
  #note = document.getElementById("text-note");
  #file = document.getElementById("text-file");
  #counts = document.getElementById("text-counts");
  #clear = document.getElementById("clear");
  #bytes = null;
  #long = null;
  #clusters = "…";
  #isNew = false;
  #isValid = true;
  #changed;

  constructor(changed) {
    this.#changed = changed;
    this.#area.addEventListener("input", () => this.#use(null, ""));
    this.#area.addEventListener("paste", (event) => this.#paste(event));
    this.#clear.addEventListener("click", () => {
      this.#replace("");
      this.#area.focus();
    });
    this.#file.addEventListener("change", () => {
      const [file] = this.#file.files;
      this.#file.value = "";
      if (file) this.open(file);
    });
  }

  get value() {
    return this.#long ?? this.#area.value;
  }

  /** Set the text without a call of `changed`. */
  set value(text) {
    this.#show(text);
    this.#set(null, "");
  }

  /** False if U+FFFD stands in `value` for invalid bytes or lone surrogates. */
  get isValid() {
    return this.#isValid;
  }

  /** Return the text, or the bytes of a file; undefined if nothing changed since the last call. */
  take() {
    if (!this.#isNew) return undefined;
    this.#isNew = false;
    return this.#bytes ?? this.value;
  }

  /** Let the next `take` return the text once more, because the worker refused it. */
  takeAgain() {
    this.#isNew = true;
  }

  /** Put `text` into the text area. If `text` is too long, put only its beginning there. */
  #show(text) {
    this.#long = text.length > MAX_EDITED ? text : null;
    this.#area.readOnly = this.#long !== null;
    this.#area.value = this.#long ? text.slice(0, SHOWN) : text;
  }

  #paste(event) {
    const pasted = event.clipboardData.getData("text/plain");
    if (pasted.length <= MAX_PASTED) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = this.#area;
    const text = this.value;
    const isWhole = selectionEnd - selectionStart === this.#area.value.length;
    if (isWhole) this.#replace(pasted);
    else this.#replace(text.slice(0, selectionStart) + pasted + text.slice(selectionEnd));
  }

  /** Set the text, and call `changed`. */
  #replace(text) {
    this.value = text;
    this.#changed();
  }

  /** Use a new text, and call `changed`. */
  #use(bytes, note) {
    this.#set(bytes, note);
    this.#changed();
  }

  /**
   * Set a new text: the bytes of a file, or the content of the box if `bytes` is null. `note` is ""
   * if the text is valid.
   */
  #set(bytes, note) {
    this.#bytes = bytes;
    this.#isNew = true;
    this.#isValid = note === "";
    this.#clusters = "…";
    if (this.#long !== null) {
      const shown = `The box shows the first ${grouped(SHOWN)} UTF-16 units of the text.`;
      note = `${shown} The text is too long to edit here. ${note}`;
    }
    if (bytes === null && !isWellFormed(this.value)) {
      this.#isValid = false;
      note = "The text has lone surrogates, which UTF-8 cannot hold; U+FFFD replaces them.";
    }
    this.#note.textContent = note;
  }

  /** Open a file. Bytes that are not valid UTF-8 are kept. */
  async open(file) {
    const bytes = await file.arrayBuffer();
    let note = "";
    try {
      this.#show(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch {
      this.#show(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
      note = `${file.name} is not valid UTF-8. The pieces show its bytes until you edit the text.`;
    }
    this.#use(bytes, note);
  }

  /** Show the length of the text. */
  describe({ byte, char, utf16 }) {
    this.#counts.replaceChildren(
      item("characters", this.#clusters, "clusters"),
      item("code points", grouped(char)),
      item("UTF-16 units", grouped(utf16)),
      item("bytes", grouped(byte)),
    );
  }

  /** Show the number of characters, which are grapheme clusters. */
  describeClusters(count) {
    this.#clusters = grouped(count);
    document.getElementById("clusters").textContent = this.#clusters;
  }
}

function item(term, value, id = "") {
  return make("div", {}, make("dt", { textContent: term }), make("dd", { textContent: value, id }));
}

function isWellFormed(text) {
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);
}
