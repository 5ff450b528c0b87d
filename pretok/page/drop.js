// Files that the user drops on the page.

const VOCABULARY = /\.(json|tiktoken|model|gguf|pretok)$/i;

/**
 * Open each file that is dropped on the page.
 *
 * A file on a side is a vocabulary of this side: openVocabulary(the number of the side, file). A
 * file on the text box is a text: openText(file). Elsewhere the suffix decides. Without this, the
 * browser leaves the page and shows the file.
 */
export function listenForFiles({ openText, openVocabulary }) {
  addEventListener("dragover", (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (!file) return; // a folder, in some browsers
    const side = event.target.closest(".side");
    const sides = [...document.querySelectorAll(".side")];
    if (side) openVocabulary(sides.indexOf(side), file);
    else if (event.target.id !== "text" && VOCABULARY.test(file.name)) openVocabulary(0, file);
    else openText(file);
  });
}

function hasFiles(event) {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
