// Make elements. Text is set only as text content, so text from the user never becomes markup.

/**
 * Return an element of type `tag` with properties, attributes and children.
 *
 * Keys with a hyphen, "role" and "scope" are attributes. A child is an element or a string.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "scope") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

/** Return the parts of `visibleParts` as elements. */
export function shownParts(parts) {
  const elements = [];
  for (const { kind, text } of parts) {
    const last = elements.at(-1);
    if (kind === "break") continue;
    if (kind === "text" && last?.className === "text") last.textContent += text;
    else elements.push(make("span", { className: kind, textContent: text }));
  }
  return elements;
}

/**
 * Return a regex as code. A line may break after a "|". A space looks as in a piece, but is copied as
 * a space.
 */
export function regex(pattern) {
  const parts = pattern.split(/([ |])/).flatMap((part) => {
    if (part === "|") return [part, make("wbr")];
    return part === " " ? make("span", { className: "blank", textContent: part }) : part;
  });
  return make("code", { dir: "ltr" }, ...parts);
}

/** Return a number with separators between groups of three digits. */
export function grouped(number) {
  return number.toLocaleString("en");
}

/** Return "1 piece" or "2 pieces". */
export function counted(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}
