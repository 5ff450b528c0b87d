// The page: it connects the controls, the worker and the views.

import { ask, latest } from "./client.js";
import { Details, Tip } from "./details.js";
import { listenForFiles } from "./drop.js";
import { counted, grouped, make } from "./elements.js";
import { DEFAULT_PRESETS, FIRST_RUN, runFirst } from "./first_run.js";
import { fromFragment, toFragment } from "./link.js";
import { SAMPLES } from "./samples.js";
import { SideView } from "./sideview.js";
import { TextBox } from "./textbox.js";

const NAMES = ["A", "B"];
/** Milliseconds from the last result until the status line names the counts. */
const STATUS_DELAY = 600;

const $ = (id) => document.getElementById(id);
// A page whose address has a fragment starts with the text and the settings of the fragment.
const started = location.hash ? ask("start").then((start) => [start, null]) : runFirst();
const box = new TextBox(() => update());
const details = new Details(ask);
const tip = new Tip();
let views = [];
let vocabularies = [null, null];
let result = null;
/** The answer to FIRST_RUN until it is shown. */
let firstRun = null;
// `position` is the byte at which the chosen piece or difference starts, or -1 if none is chosen.
// `window` has the pieces that the page shows at one time (window.js).
let place = { position: -1, window: null };
let statusTimer = 0;
/** The number of vocabularies that could not be opened, now and at the latest call of `update`. */
let refusals = 0;
let seenRefusals = 0;

const refresh = latest(async () => {
  const settings = activeViews().map(({ preset, unicode }) => ({
    preset: preset.value,
    unicode: unicode.value,
    special: $("special").checked,
  }));
  const source = box.take();
  try {
    result = await run({ source, settings, view: checked("show") });
  } catch (error) {
    if (source !== undefined) box.takeAgain();
    fail(error);
    return;
  }
  // An error of a file stays if this run was asked for before it.
  if (refusals === seenRefusals) $("error").hidden = true;
  place = { position: -1, window: result.window };
  describe();
  draw();
  if (source !== undefined) countClusters();
});

/** Show the result for the current text and settings; hide an earlier error. */
function update() {
  seenRefusals = refusals;
  return refresh();
}

/** Return the answer to `message`. The page itself has answered FIRST_RUN. */
function run(message) {
  const answer = ask("run", message); // the worker must know the text of the first run too
  const first = firstRun;
  firstRun = null;
  const isFirst = first && JSON.stringify(message) === JSON.stringify(FIRST_RUN);
  return isFirst ? first : answer;
}

/** Return the views of the sides that the page shows. */
function activeViews() {
  return $("compare").checked ? views : views.slice(0, 1);
}

function checked(name) {
  return document.querySelector(`input[name="${name}"]:checked`).value;
}

/**
 * Show counts, rules and differences of the result.
 *
 * The result has the sides that were compared when the worker was asked. The box "compare" may have
 * changed since then.
 */
function describe() {
  const { sides, length, differences } = result;
  sides.forEach((side, i) => views[i].describe(side, length, checked("show")));
  box.describe(length);
  $("difference-bar").hidden = !differences;
  $("differences").textContent = differences ? counted(differences, "difference") : "";
  const spoken = sides.map(({ preTokens, tokens, error }, i) => {
    const { name } = views[i];
    if (error !== undefined) return `${name}: ${error}`;
    const counts = [];
    if (preTokens !== null) counts.push(counted(preTokens, "pre-token"));
    if (tokens !== null) counts.push(counted(tokens, "token"));
    return `${name}: ${counts.join(", ")}`;
  });
  if (differences !== null) spoken.push(counted(differences, "difference"));
  // Wait until the typing pauses, so that a screen reader does not read each state.
  clearTimeout(statusTimer);
  statusTimer = setTimeout(() => say(`${spoken.join(". ")}.`, true), STATUS_DELAY);
}

/** Show the window of pieces in `place`. A side that the result does not have gets no pieces. */
function draw() {
  views.forEach((view, i) => view.show(place.window.sides[i], $("label").value, place.window));
  details.clear();
  tip.hide();
}

/** Show the window of pieces before or after the window that is shown. */
async function page(isBackward) {
  const at = isBackward ? place.window.earlier : place.window.later;
  if (at === null) return;
  place.window = await ask("window", { at });
  draw();
}

/** Show the difference before or after the chosen piece. */
async function goToDifference(isBackward) {
  const found = await ask("difference", { position: place.position, isBackward });
  if (!found) return;
  place = { position: found.start, window: found.window };
  draw();
  views.forEach((view) => view.list.chooseAt(found.start, false));
  $("differences").textContent = `difference ${grouped(found.number + 1)} of ${grouped(result.differences)}`;
}

async function countClusters() {
  const count = await ask("clusters");
  if (count !== null) box.describeClusters(count);
}

/** Show `text` in the status line, or only give it to a screen reader. */
function say(text, isOnlySpoken = false) {
  clearTimeout(statusTimer);
  $("status").classList.toggle("visually-hidden", isOnlySpoken);
  $("status").textContent = text;
}

function fail(error) {
  say("", true);
  $("error").textContent = error.message;
  $("error").hidden = false;
}

async function openVocabulary(i, file) {
  say(`Opening ${file.name}…`);
  try {
    const bytes = await readVocabulary(file);
    const preset = views[i].preset.value || DEFAULT_PRESETS[i];
    const settings = { preset, unicode: views[i].unicode.value };
    const used = await ask("open", { side: i, name: file.name, bytes, settings }, [bytes]);
    views[i].offerSplitOfFile(used === "");
    views[i].preset.value = used;
    vocabularies[i] = file.name;
    document.querySelector('input[name="show"][value="tokens"]').checked = true;
    if ($("label").value === "rule") $("label").value = "id";
    await update();
  } catch (error) {
    refusals += 1;
    fail(new Error(`${file.name}: ${error.message}`));
  }
}

/**
 * Return the bytes of a vocabulary file. Of a GGUF file, return only the first bytes: the
 * vocabulary is near the beginning, and the file may be too large to read.
 */
async function readVocabulary(file) {
  const limit = 256 << 20;
  const magic = new TextDecoder().decode(await file.slice(0, 4).arrayBuffer());
  if (magic === "GGUF") return file.slice(0, limit).arrayBuffer();
  if (file.size > limit) {
    throw new RangeError(`the file has ${file.size} bytes; open a file of at most ${limit}`);
  }
  return file.arrayBuffer();
}

async function closeVocabulary(i) {
  await ask("close", { side: i });
  vocabularies[i] = null;
  if (!views[i].preset.value) views[i].preset.value = DEFAULT_PRESETS[i];
  views[i].offerSplitOfFile(false);
  update();
}

function showSides() {
  const active = activeViews();
  $("sides").replaceChildren(...active.map((view) => view.element));
  $("sides").classList.toggle("two", active.length > 1);
}

/** Put a link that holds the text and the settings into the address bar and the clipboard. */
async function share() {
  const settings = { show: checked("show"), label: $("label").value };
  activeViews().forEach((view, i) => {
    settings[NAMES[i].toLowerCase()] = view.preset.value || result.sides[i]?.preset?.name || DEFAULT_PRESETS[i];
    if (view.unicode.value) settings[`unicode-${NAMES[i].toLowerCase()}`] = view.unicode.value;
    if (vocabularies[i]) settings[`vocabulary-${NAMES[i].toLowerCase()}`] = vocabularies[i];
  });
  if ($("special").checked) settings.special = "ids";
  const fragment = await toFragment(box.value, settings);
  if (fragment === null) {
    fail(new Error("the text is too long for a link; share the file instead"));
    return;
  }
  history.replaceState(null, "", fragment);
  const loss = box.isValid ? "" : " It holds U+FFFD in place of what is not valid.";
  try {
    await navigator.clipboard.writeText(location.href);
    say(`The link is copied.${loss}`);
  } catch {
    say(`The link is in the address bar.${loss}`);
  }
}

/** Use the settings of a link. Return a note that names vocabularies that the user must open. */
function applySettings(settings) {
  const choose = (select, value) => {
    if ([...select.options].some((option) => option.value === value)) select.value = value;
  };
  $("compare").checked = settings.b !== undefined;
  $("special").checked = settings.special === "ids";
  choose($("label"), settings.label ?? "rule");
  for (const radio of document.querySelectorAll('input[name="show"]')) {
    radio.checked = radio.value === (settings.show === "tokens" ? "tokens" : "pre-tokens");
  }
  const missing = [];
  views.forEach((view, i) => {
    const name = NAMES[i].toLowerCase();
    view.preset.value = DEFAULT_PRESETS[i];
    choose(view.preset, settings[name]);
    choose(view.unicode, settings[`unicode-${name}`] ?? "");
    const file = settings[`vocabulary-${name}`];
    if (file) missing.push(`${view.name} used the vocabulary ${file}: open it here to see its tokens.`);
  });
  return missing.join(" ");
}

async function applyLink() {
  const link = await fromFragment(location.hash);
  const note = applySettings(link.settings) || link.problem;
  showSides();
  box.value = link.text ?? FIRST_RUN.source;
  await update();
  if (note) fail(new Error(note));
}

async function main() {
  const [start, first] = await started;
  const { version, unicodeVersion, unicodeVersions, presets } = start;
  firstRun = first;
  views = NAMES.map(
    (name, i) =>
      new SideView(name, { presets, unicodeVersions }, {
        change: update,
        open: (file) => openVocabulary(i, file),
        close: () => closeVocabulary(i),
        page,
        choose: (piece) => {
          tip.hide();
          place.position = piece.span.byte[0];
          details.show(piece, i, result.sides[i], () => views[i].list.chooseAt(piece.span.byte[0]));
        },
        point: (piece, element) => tip.show(piece, element, result.sides[i].preset?.rules),
        leave: () => tip.hide(),
        enter: () => details.focus(),
      }),
  );
  const versions = unicodeVersions.length > 1 ? ` (of ${unicodeVersions.join(", ")})` : "";
  $("version").textContent = `pretok ${version}, Unicode ${unicodeVersion}${versions}.`;
  $("sample").append(...Object.keys(SAMPLES).map((name) => make("option", { value: name, textContent: name })));
  $("sample").addEventListener("change", () => {
    if ($("sample").value) box.value = SAMPLES[$("sample").value];
    $("sample").value = "";
    update();
  });
  for (const radio of document.querySelectorAll('input[name="show"]')) radio.addEventListener("change", update);
  $("special").addEventListener("change", update);
  $("label").addEventListener("change", draw);
  $("compare").addEventListener("change", () => {
    showSides();
    update();
  });
  $("previous-difference").addEventListener("click", () => goToDifference(true));
  $("next-difference").addEventListener("click", () => goToDifference(false));
  $("share").addEventListener("click", share);
  listenForFiles({ openText: (file) => box.open(file), openVocabulary });
  addEventListener("hashchange", applyLink);
  addEventListener("unhandledrejection", ({ reason }) => fail(reason));
  await applyLink();
  document.documentElement.dataset.ready = "true";
}

main().catch(fail);
