// The page of `phuma view`: a list of clips, the stage with its timeline, and what is known of the chosen clip.
// The server plays; the page asks, and shows what it is told. Text from the server is put in as text only.

import { livePart } from "./live.js";

const PAGE_ROWS = 50;
const DEBOUNCE = 150; // ms
const RECONNECT = 1000; // ms
const LANE = { step: 14, height: 11 }; // px
const PLOT = { height: 62, pad: 5 }; // px
const CURSOR_WAIT = 250; // ms in which older frames than the one sought are not shown
const LANE_KINDS = ["contact", "flight", "violation", "far", "reason"];

const $ = (id) => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// ---------------------------------------------------------------- text and elements

/** What cannot be seen is spelled out, as the report does: control characters, marks of direction, breaks of lines. */
function plain(text) {
  return String(text ?? "").replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, spelled);
}

/** As Python and a shell's $'...' spell it. */
function spelled(character) {
  const code = character.codePointAt(0);
  const short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
  const [letter, digits] = code > 0xffff ? ["U", 8] : code > 0x7f ? ["u", 4] : ["x", 2];
  return short ?? `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}

/** A message of several lines. */
function message(text) {
  return String(text ?? "").split("\n").map(plain).join("\n");
}

/** An element with attributes and children; strings become text. */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.map((child) => (typeof child === "string" ? plain(child) : child)));
  return element;
}

function swatch(colour, kind = "") {
  const box = el("i", { class: `swatch ${kind}`, "aria-hidden": "true" });
  if (colour) box.style.background = colour;
  return box;
}

/** A name whose middle gives way when there is no room: what tells recordings apart is often at the end. */
function middleEllipsis(text) {
  const letters = [...new Intl.Segmenter().segment(plain(text))].map((part) => part.segment);
  const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(text); // parts of it would change places
  if (letters.length <= 16 || rightToLeft) return [el("span", {}, letters.join(""))];
  return [el("span", {}, letters.slice(0, -10).join("")), el("span", {}, letters.slice(-10).join(""))];
}

/** Three digits that count; a percentage has one decimal and is 100 only where nothing is missing. */
function number(value, unit = "") {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (unit === "%") return value.toFixed(1) !== "100.0" || value >= 100 ? value.toFixed(1) : Math.min(value, 99.99).toFixed(2);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

function verdictOf(kept) {
  return kept === true ? "kept" : kept === false ? "rejected" : "not judged";
}

/** A path as a shell takes it, whatever is in it. */
function shellWord(path) {
  const word = path.startsWith("-") ? `./${path}` : path;
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (plain(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${plain(word.replace(/[\\']/g, "\\$&"))}'`;
}

// ---------------------------------------------------------------- state

const list = { page: 0, pages: 0, rows: [], request: 0, timer: 0, abort: null, turning: false };
const view = {
  wanted: null, // {clip, robot} chosen last
  clip: null, // the server's last message about a clip
  frame: 0,
  playing: false,
  state: null, // the server's last message about its state
};
let metrics = [];
let about = {};

// ---------------------------------------------------------------- the list of clips

async function getJson(address, signal) {
  const response = await fetch(address, { signal });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || `The server answered with status ${response.status}.`);
  return answer;
}

async function loadAbout() {
  about = await getJson("/api/about");
  metrics = about.metrics;
  document.title = `${plain(about.title)} – PHUMA`;
  $("title").textContent = $("title").title = plain(about.title);
  $("counts").textContent = about.clips > 1 ? `${count(about.clips, "clip")}, ${about.kept.toLocaleString("en")} kept` : "";
  document.body.classList.toggle("floor", Boolean(about.floor));
  $("filters").hidden = $("pager").hidden = about.clips < 2;
  const named = metrics.map((metric) => [metric.name, metric.label]);
  const plainly = (names) => names.map((name) => [name, name]);
  options("category", "any category", plainly(about.categories), about.categories.length > 0);
  options("split", "any split", plainly(about.splits), about.splits.length > 0);
  options("robot", null, plainly(about.robots), about.robots.length > 1); // every clip is there for every robot
  options("metric", "any metric", named, named.length > 0);
  options("sort", "in the dataset's order", named.map(([name, label]) => [name, `by ${label}`]), named.length > 0);
  $("sorting").hidden = $("sort").hidden;
  showFilters();
}

function options(id, none, pairs, useful) {
  const select = $(id);
  const before = select.value;
  const all = none === null ? pairs : [["", none], ...pairs];
  select.replaceChildren(...all.map(([value, label]) => el("option", { value }, label)));
  if (pairs.some(([value]) => value === before)) select.value = before;
  select.hidden = !useful;
}

function query() {
  const metric = $("metric").value;
  const parameters = {
    text: $("search").value.trim(),
    category: $("category").value,
    split: $("split").value,
    robot: $("robot").value,
    verdict: document.querySelector("#verdict :checked").value,
    metric,
    min: metric && $("from").value,
    max: metric && $("to").value,
    sort: $("sort").value,
    descending: $("sort").value && $("descending").ariaPressed === "true" ? "1" : "",
  };
  return Object.entries(parameters).filter(([, value]) => value);
}

function filtered() {
  return query().some(([name]) => !["sort", "descending", "robot"].includes(name));
}

function showFilters() {
  for (const id of ["category", "split", "metric", "sort"]) $(id).classList.toggle("chosen", $(id).value !== "");
  const metric = metrics.find(({ name }) => name === $("metric").value);
  $("bounds").hidden = !metric;
  $("bounds-unit").textContent = metric ? plain(metric.unit) : "";
  const descending = $("descending").ariaPressed === "true";
  $("descending").disabled = !$("sort").value;
  $("descending").title = $("descending").ariaLabel = descending ? "Largest first" : "Smallest first";
}

/** Ask for the first page again, once nothing has changed for a moment. */
function refilter() {
  showFilters();
  clearTimeout(list.timer);
  list.timer = setTimeout(() => loadPage(0), DEBOUNCE);
}

/** True when the page came and no newer one was asked for meanwhile. */
async function loadPage(page) {
  clearTimeout(list.timer);
  list.abort?.abort();
  list.abort = new AbortController();
  const request = ++list.request;
  $("list").ariaBusy = "true";
  let answer;
  try {
    answer = await getJson(`/api/clips?${new URLSearchParams([...query(), ["page", page]])}`, list.abort.signal);
  } catch (error) {
    if (request === list.request) listFailed(error);
    return false;
  }
  if (request !== list.request) return false;
  showPage(answer);
  return true;
}

function listFailed(error) {
  $("list").ariaBusy = "false";
  Object.assign(list, { rows: [], page: 0, pages: 0 });
  $("rows").replaceChildren();
  $("empty").hidden = true;
  $("list-error").hidden = false;
  const unanswered = error instanceof TypeError; // by fetch
  $("list-error").textContent = unanswered ? "The list could not be read: no answer from the server." : message(error.message);
  showPager(0);
}

function showPage(answer) {
  Object.assign(list, { page: answer.page, pages: answer.pages, rows: answer.rows });
  $("list").ariaBusy = "false";
  $("list").scrollTop = 0;
  $("list-error").hidden = true;
  $("rows").replaceChildren(...answer.rows.map((row) => el("li", {}, rowButton(row))));
  $("empty").hidden = answer.rows.length > 0;
  $("clear").hidden = !filtered();
  $("empty-text").textContent = filtered() ? "No clip fits these filters." : "There are no clips here.";
  showPager(answer.total);
  markRow();
}

function showPager(total) {
  const first = list.page * PAGE_ROWS;
  const grouped = (value) => value.toLocaleString("en");
  $("range").textContent = total ? `${grouped(first + 1)}-${grouped(first + list.rows.length)} of ${grouped(total)}` : "none";
  $("previous-page").disabled = list.page <= 0;
  $("next-page").disabled = list.page + 1 >= list.pages;
}

function rowButton(row) {
  const verdict = verdictOf(row.kept);
  const metric = metrics.find(({ name }) => name === ($("sort").value || $("metric").value));
  const shownValue = metric && row.value !== null ? `${number(row.value, metric.unit)} ${metric.unit}` : metric ? "–" : "";
  const button = el(
    "button",
    { class: "row", type: "button", "data-clip": row.clip, "data-robot": row.robot },
    el("i", { class: `dot ${verdict}`, "aria-hidden": "true" }),
    el("span", { class: "name", title: plain(row.recording) }, ...middleEllipsis(row.recording)),
    el("span", { class: "value" }, shownValue),
    el(
      "span",
      { class: "meta" },
      el("span", { title: `${(row.end - row.start).toFixed(1)} s long` }, `${row.start.toFixed(1)}–${row.end.toFixed(1)} s`),
      ...(row.category ? [el("span", { class: "chip", title: plain(row.label ?? row.category) }, row.category)] : []),
      ...(row.split ? [el("span", {}, row.split)] : []),
      ...(row.mirrored ? [el("span", { title: "mirrored: left and right are swapped" }, "⇄")] : []),
      el("span", { class: `verdict ${verdict}`, title: (row.reasons ?? []).map(plain).join("\n") }, verdict),
    ),
    el("span", { class: "why by-hand" }, byHand(row)),
    ...(row.reasons?.length ? [el("span", { class: "why", title: row.reasons.map(plain).join("\n") }, inWords(row.reasons))] : []),
  );
  button.addEventListener("click", () => choose(row));
  return button;
}

/** Why a clip was rejected, without the metric's name; of several reasons the first. */
function inWords(reasons) {
  const first = reasons[0].replace(/^[\w-]+: /, "");
  return reasons.length > 1 ? `${first}, and ${count(reasons.length - 1, "more reason")}` : first;
}

/** What somebody thinks of a clip, in a word or two. */
function byHand({ review }) {
  const verdict = { keep: "kept by hand", reject: "rejected by hand" }[review?.verdict] ?? "";
  return [verdict, review?.label].filter(Boolean).join(": ");
}

function isWanted(row) {
  return row.clip === view.wanted?.clip && (!view.wanted.robot || row.robot === view.wanted.robot);
}

function markRow() {
  list.rows.forEach((row, i) => {
    const button = $("rows").children[i].firstChild;
    button.ariaCurrent = String(isWanted(row));
    if (isWanted(row)) button.scrollIntoView({ block: "nearest" });
  });
}

/** Open a clip; keys that repeat wait for the last one. */
function choose({ clip, robot }, wait = 0) {
  view.wanted = { clip, robot };
  history.replaceState(null, "", `#${new URLSearchParams(robot ? { clip, robot } : { clip })}`);
  markRow();
  clearTimeout(choose.timer);
  choose.timer = setTimeout(open, wait);
  fold(null);
}

async function chooseNeighbour(step) {
  if (list.turning) return;
  const at = list.rows.findIndex(isWanted);
  const to = at < 0 ? (step > 0 ? 0 : list.rows.length - 1) : at + step;
  if (list.rows[to]) return choose(list.rows[to], DEBOUNCE);
  const page = list.page + step;
  if (page < 0 || page >= list.pages) return;
  list.turning = true;
  const turned = await loadPage(page);
  list.turning = false;
  if (turned && list.rows.length) choose(step > 0 ? list.rows[0] : list.rows.at(-1));
}

function clearFilters() {
  for (const id of ["search", "category", "split", "metric", "from", "to"]) $(id).value = "";
  document.querySelector("#verdict input").checked = true;
  refilter();
}

function fromHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  return given.get("clip") ? { clip: given.get("clip"), robot: given.get("robot") } : null;
}

// ---------------------------------------------------------------- the session with the server

const live = livePart({ $, el, plain, send });
let socket = null;
let connected = false;
let lost = false; // a connection was lost, or there was none yet
let refused = false; // the server is there, but would not talk

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/session`);
  socket.addEventListener("message", ({ data }) => {
    const news = JSON.parse(data);
    receive[news.type]?.(news);
  });
  socket.addEventListener("close", () => {
    connected = view.playing = false;
    lost = true;
    $("banner").hidden = refused;
    refused = false;
    showState();
    busy(null);
    setTimeout(connect, RECONNECT);
  });
}

function send(order) {
  if (connected) socket.send(JSON.stringify(order));
}

function open() {
  if (!view.wanted) return;
  showError(null);
  send({ type: "open", ...view.wanted });
}

const receive = {
  hello({ stage }) {
    connected = true;
    $("banner").hidden = true;
    $("stage").src = stage;
    if (view.state) restore(view.state);
    open();
    if (lost) start();
    lost = false;
  },
  clip(clip) {
    busy(null);
    showError(null);
    if (view.clip?.clip !== clip.clip || view.clip.robot !== clip.robot) view.frame = 0;
    view.frame = clamp(view.frame, 0, clip.frames - 1);
    view.clip = clip;
    showClip();
    live.show(clip.controls);
  },
  state(state) {
    view.state = state;
    view.playing = state.playing;
    live.showLive(state.live);
    moveTo(state.frame);
    showState();
  },
  frame: ({ frame }) => moveTo(frame),
  live(seen) {
    moveTo(seen.frame);
    live.showFacts(seen);
  },
  controls: ({ controls }) => live.show(controls),
  busy: ({ text }) => busy(text),
  reviewed({ clip, review }) {
    for (const row of list.rows) if (row.clip === clip) row.review = review;
    list.rows.forEach((row, i) => {
      if (row.clip === clip) $("rows").children[i].querySelector(".by-hand").textContent = plain(byHand(row));
    });
    showReview();
  },
  error({ text }) {
    refused = !connected;
    busy(null);
    showError(text);
    if (view.clip) showChoices(); // a box that was ticked in vain
    live.again();
  },
};

/** A new session looks as the one before did. */
function restore({ speed, loop, layout, follow, shown }) {
  send({ type: "speed", value: speed });
  send({ type: "loop", value: loop });
  send({ type: "layout", value: layout });
  send({ type: "follow", value: follow });
  send({ type: "show", ...shown });
}

function busy(text) {
  $("busy").hidden = text === null;
  $("busy-text").textContent = message(text);
}

function showError(text) {
  $("error").hidden = text === null;
  $("error-text").textContent = message(text);
}

// ---------------------------------------------------------------- playback

let sought = null; // {frame, until, unsent}: where the page went by itself
let scrubbing = false;

/** What the server says, unless it speaks of a frame before the one just sought. */
function moveTo(frame) {
  if (scrubbing) return;
  if (sought && frame !== sought.frame && performance.now() < sought.until) return;
  sought = null;
  view.frame = frame;
  repaint();
}

function seek(frame) {
  if (!view.clip) return;
  view.frame = clamp(Math.round(frame), 0, view.clip.frames - 1);
  sought = { frame: view.frame, until: performance.now() + CURSOR_WAIT, unsent: true };
  repaint();
}

function setPlaying(playing) {
  if (!view.clip || playing === view.playing) return;
  if (playing && view.frame === view.clip.frames - 1) seek(0);
  flushSeek();
  view.playing = playing;
  send({ type: playing ? "play" : "pause" });
  showState();
}

function step(frames) {
  setPlaying(false);
  seek(view.frame + frames);
}

/** How far beyond its limit each quantity is in each frame; the frame in which one is farthest, relative to the limit. */
function worstOf(tracks) {
  let worst = { frame: -1, share: -Infinity, label: "" };
  for (const { label, limits, series } of tracks) {
    const limit = Math.max(...limits.map(Math.abs));
    if (!limits.length || !(limit > 0)) continue;
    for (const { values } of series) {
      values.forEach((value, frame) => {
        if (value !== null && Math.abs(value) / limit > worst.share) worst = { frame, share: Math.abs(value) / limit, label };
      });
    }
  }
  return worst;
}

function goToWorst(tracks = view.clip?.tracks ?? []) {
  const { frame, share, label } = worstOf(tracks);
  if (frame < 0) return;
  setPlaying(false);
  seek(frame);
  $("said").textContent = plain(`Frame ${frame}: ${label} is at ${Math.round(100 * share)} % of its limit`);
}

function flushSeek() {
  if (!sought?.unsent) return;
  sought.unsent = false;
  send({ type: "seek", frame: sought.frame });
}

let painting = 0;
function repaint() {
  painting ||= requestAnimationFrame(paint);
}

/** All that changes with the frame. */
function paint() {
  painting = 0;
  flushSeek();
  if (!view.clip) return;
  const { frame, clip } = view;
  const time = (frame / clip.fps).toFixed(2);
  const place = (frame + 0.5) / clip.frames;
  $("frame").textContent = frame;
  $("time").textContent = time;
  $("scrubber").ariaValueNow = frame;
  $("scrubber").ariaValueText = `frame ${frame}, ${time} seconds`;
  timelineCursor.style.transform = `translateX(${place * timelineWidth}px)`;
  timelineGone?.setAttribute("width", place * timelineWidth);
  for (const plot of plots) {
    plot.cursor.style.transform = `translateX(${place * plotWidth}px)`;
    for (const { values, output } of plot.series) output.textContent = plot.say(values[frame]);
  }
}

/** Press and drag on an element as wide as the clip is long. */
function scrubbable(element) {
  const go = (event) => {
    const box = element.getBoundingClientRect();
    if (box.width) seek(Math.floor(((event.clientX - box.left) / box.width) * view.clip.frames));
  };
  element.addEventListener("pointerdown", (down) => {
    if (down.button !== 0 || !view.clip) return;
    const resume = view.playing;
    setPlaying(false);
    element.setPointerCapture(down.pointerId);
    scrubbing = true;
    document.body.classList.add("scrubbing");
    go(down);
    const drag = new AbortController();
    const stop = () => {
      drag.abort();
      scrubbing = false;
      document.body.classList.remove("scrubbing");
      if (resume) setPlaying(true);
    };
    // On the window: a new clip may take the element away meanwhile.
    for (const [name, react] of [["pointermove", go], ["pointerup", stop], ["pointercancel", stop]]) {
      window.addEventListener(name, react, { signal: drag.signal });
    }
  });
}

// ---------------------------------------------------------------- the bar and the controls

function press(button, pressed) {
  button.ariaPressed = String(Boolean(pressed));
}

function showState() {
  const { state, playing } = view;
  $("play").classList.toggle("playing", playing);
  $("play").ariaLabel = playing ? "Pause" : "Play";
  $("play").title = `${$("play").ariaLabel} (space)`;
  for (const id of ["play", "back", "forward", "worst", "loop", "speed", "follow", "reset"]) $(id).disabled = !connected || !view.clip;
  for (const control of document.querySelectorAll("#shown button, #layout input")) control.disabled = !connected || !view.clip;
  if (!state) return;
  press($("loop"), state.loop);
  press($("follow"), state.follow);
  $("speed").value = String(state.speed);
  for (const button of $("shown").children) press(button, state.shown[button.dataset.show]);
  for (const input of document.querySelectorAll("#layout input")) input.checked = input.value === state.layout;
  showLegend();
  if (view.clip) showCommands();
}

function toggleShown(button) {
  if (!view.state) return;
  const name = button.dataset.show;
  view.state.shown[name] = !view.state.shown[name];
  showState();
  send({ type: "show", ...view.state.shown });
}

// ---------------------------------------------------------------- the timeline

const timelineCursor = document.querySelector("#scrubber .cursor");
let timelineWidth = 0;
let timelineGone = null;

function showTimeline() {
  const { clip } = view;
  $("duration").textContent = (clip.frames / clip.fps).toFixed(2);
  $("last-frame").textContent = clip.frames - 1;
  $("time").style.minWidth = `${$("duration").textContent.length}ch`;
  $("frame").style.minWidth = `${$("last-frame").textContent.length}ch`;
  $("scrubber").ariaValueMax = clip.frames - 1;
  $("lane-labels").replaceChildren(
    ...clip.lanes.map((lane) => {
      const label = el("button", { class: "lane", type: "button", title: `${plain(lane.label)}: go to the next mark` }, lane.label);
      label.disabled = !lane.spans.length;
      label.addEventListener("click", () => nextSpan(lane));
      return label;
    }),
  );
  drawTimeline();
}

function nextSpan({ spans }) {
  setPlaying(false);
  seek((spans.find(([first]) => first > view.frame) ?? spans[0])[0]);
}

function drawTimeline() {
  const { clip } = view;
  timelineWidth = $("scrubber").clientWidth;
  if (!clip || !timelineWidth) return;
  timelineGone = svg("rect", { class: "gone", y: 14, width: 0, height: 4 });
  const rail = svg("rect", { y: 14, width: timelineWidth, height: 4 });
  $("ruler").replaceChildren(...ruler(clip.frames / clip.fps, timelineWidth), rail, timelineGone);
  const shapes = clip.lanes.flatMap((lane, i) => laneShapes(lane, i * LANE.step + 1, clip.frames, timelineWidth));
  $("spans").style.height = `${clip.lanes.length * LANE.step}px`;
  $("spans").replaceChildren(stripes(), ...shapes);
  repaint();
}

/** Seconds at round numbers, so many as there is room for. */
function ruler(seconds, width) {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800];
  const size = steps.find((each) => (each / seconds) * width >= 56) ?? 3600;
  const marks = Array.from({ length: Math.floor(seconds / size) + 1 }, (_, i) => i * size);
  return marks.flatMap((time) => {
    const x = (time / seconds) * width;
    const text = `${Number(time.toFixed(1))} s`;
    if (x > width - 20) return [];
    return [svg("line", { x1: x, x2: x, y1: 2, y2: 12 }), svg("text", { x: x + 3, y: 10 }, text)];
  });
}

function stripes() {
  const tile = { id: "stripes", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return svg("defs", {}, svg("pattern", tile, svg("rect", { width: 5, height: 5 }), svg("path", { d: "M1 0V5" })));
}

/** A bed and the spans in it; spans that meet within a pixel are one. */
function laneShapes({ kind, spans }, y, frames, width) {
  const runs = [];
  for (const [first, past] of spans) {
    const from = (first / frames) * width;
    const to = Math.max((past / frames) * width, from + 1);
    if (runs.length && from <= runs.at(-1)[1] + 0.3) runs.at(-1)[1] = Math.max(runs.at(-1)[1], to);
    else runs.push([from, to]);
  }
  const { height } = LANE;
  const boxes = runs.map(([from, to]) => svg("rect", { x: from.toFixed(1), y, width: (to - from).toFixed(1), height }));
  return [
    svg("rect", { class: "bed", y, width, height, rx: 2 }),
    svg("g", { class: LANE_KINDS.includes(kind) ? kind : "violation", "data-kind": kind }, ...boxes),
  ];
}

function showLegend() {
  const { clip } = view;
  if (!clip) return;
  const shown = view.state?.shown ?? {};
  const has = (kind) => clip.lanes.some((lane) => lane.kind === kind);
  const entry = (name, on, ...boxes) =>
    el("span", { class: on === false ? "off" : null, title: plain(name) }, ...boxes, el("span", {}, name));
  $("legend").replaceChildren(
    ...(clip.human ? [entry("human: left, right, trunk", shown.human, ...["left", "right", "trunk"].map((side) => swatch(null, `bg-${side}`)))] : []),
    ...clip.performers.map(({ title, colour }) => entry(title, shown.robots, swatch(colour))),
    entry("path of the root", shown.paths, swatch(clip.performers[0]?.colour, "path bg-trunk")),
    ...(has("contact") ? [entry("contact", shown.contacts, swatch(null, "bg-contact"))] : []),
    ...(has("violation") ? [entry("violation", shown.violations, swatch(null, "bg-violation"))] : []),
    ...(has("far") ? [entry("foot far off", shown.violations, swatch(null, "bg-far"))] : []),
    ...(has("flight") ? [entry("flight", true, swatch(null, "bg-flight"))] : []),
    ...(has("reason") ? [entry("why it was rejected", true, swatch(null, "stripes"))] : []),
  );
}

// ---------------------------------------------------------------- the panel of the chosen clip

function showClip() {
  const { clip } = view;
  const verdict = verdictOf(clip.kept);
  $("clip-title").replaceChildren(...middleEllipsis(clip.title));
  $("clip-title").title = plain(clip.title);
  $("clip-subtitle").textContent = plain(clip.subtitle);
  $("badge").hidden = $("details").hidden = false;
  $("badge").className = `badge ${verdict}`;
  $("badge").textContent = plain(clip.verdict ?? verdict);
  document.querySelector("#shown [data-show=human]").hidden = !clip.human;
  showState();
  showTimeline();
  showVerdict();
  showChoices();
  showPlots();
  showFacts();
  showCommands();
  showReview();
  showLegend();
}

function showVerdict() {
  const { kept, verdict, reasons, measures } = view.clip;
  $("judged").className = verdictOf(kept);
  $("judged").textContent = plain(verdict ?? verdictOf(kept));
  $("reasons").replaceChildren(...reasons.map((reason) => el("li", {}, reason)));
  $("measures").replaceChildren(
    ...measures.map(({ name, value, limit, passed }) =>
      el(
        "tr",
        { class: passed === false ? "failed" : null },
        el("td", {}, name),
        el("td", {}, value ?? "–"),
        el("td", { class: "soft" }, limit ?? ""),
        el("td", { title: passed === false ? "fails" : "passes" }, passed === false ? "✗" : passed ? "✓" : ""),
      ),
    ),
  );
}

function showChoices() {
  const { choices, performers } = view.clip;
  const focused = document.activeElement?.dataset?.choice;
  const unasked = performers.filter(({ id }) => !choices.some((choice) => choice.id === id));
  $("compare-part").hidden = !choices.length && !performers.length;
  $("sets").replaceChildren(...sets(choices).map(setButton));
  $("choices").replaceChildren(
    ...unasked.map((each) => choiceLine(each, each)),
    ...choices.map((choice) => choiceLine(choice, performers.find(({ id }) => id === choice.id))),
  );
  if (focused) [...$("choices").querySelectorAll("input")].find((box) => box.dataset.choice === focused)?.focus();
  showScores(performers);
}

/** What is often compared: all robots by the method of the first, all methods on one robot, two presets. */
function sets(choices) {
  const methods = choices.filter(({ id }) => id.includes(":")); // a policy and its reference are neither robots nor methods
  const parts = methods.map(({ id, chosen }) => ({ id, chosen, robot: id.split(":")[0], how: id.slice(id.indexOf(":") + 1) }));
  const first = parts.find(({ chosen }) => chosen) ?? parts[0];
  if (!first) return [];
  const method = (how) => !["stored", "certified"].includes(how) && !how.includes("@");
  const robots = [...new Set(parts.map(({ robot }) => robot))].map(
    (robot) => parts.find((each) => each.robot === robot && each.how === first.how) ?? parts.find((each) => each.robot === robot));
  const own = parts.filter(({ robot, how }) => robot === first.robot && (method(how) || how === first.how));
  const presets = parts.filter(({ robot, how }) => robot === first.robot && how.includes("@"));
  const usual = parts.filter(({ id }) => presets.some((each) => each.id.startsWith(`${id}@`))); // as this preset has it
  return [
    ["Robots", robots],
    ["Methods", own.filter(({ how }) => ["stored", "ik", "gmr", "sink", "physink", "physink+dynamics"].includes(how))],
    ["Presets", [...usual, ...presets]],
  ].filter(([, each]) => each.length > 1).map(([name, each]) => [name, each.slice(0, 6).map(({ id }) => id)]);
}

function setButton([name, ids]) {
  const button = el("button", { type: "button", title: `Side by side: ${plain(ids.join(", "))}` }, name);
  button.addEventListener("click", () => {
    send({ type: "layout", value: "side" });
    send({ type: "compare", performers: ids });
  });
  return button;
}

function choiceLine(choice, performer) {
  const lines = (kind, texts) => (texts ?? []).map((text) => el("span", { class: kind }, text));
  const words = el("span", {}, choice.title, ...lines("note", performer?.notes), ...lines("flag", performer?.flags));
  const box = swatch(performer?.colour, performer ? "" : "none");
  const line = el("label", { class: "choice", "data-performer": performer?.id }, box, words);
  if (choice === performer) return line; // on the stage in any case
  const tick = el("input", { type: "checkbox", "data-choice": choice.id });
  tick.checked = choice.chosen;
  tick.addEventListener("change", () => {
    const chosen = [...$("choices").querySelectorAll("input:checked")].map((each) => each.dataset.choice);
    send({ type: "compare", performers: chosen });
  });
  line.prepend(tick);
  return line;
}

/** A row a score, a column a performer. */
function showScores(performers) {
  const names = [...new Set(performers.flatMap(({ scores }) => scores.map(([name]) => name)))];
  const head = performers.map(({ title, colour }) => el("th", { title: plain(title), "aria-label": plain(title) }, swatch(colour)));
  const score = ({ scores }, name) => el("td", {}, String(scores.find(([each]) => each === name)?.[1] ?? "–"));
  const rows = names.map((name) => el("tr", {}, el("td", {}, name), ...performers.map((each) => score(each, name))));
  $("scores").replaceChildren(...(performers.length > 1 && names.length ? [el("tr", {}, el("th"), ...head)] : []), ...rows);
}

function showFacts() {
  const { facts } = view.clip;
  $("facts-part").hidden = !facts.length;
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
}

function showCommands() {
  const { path } = view.clip;
  $("commands-part").hidden = !path;
  if (!path) return;
  const file = shellWord(path);
  const seen = chosenOptions();
  const lines = [
    ...presetCommands(file),
    ...seen.flatMap((options, i) => [
      `phuma render ${file}${options}${view.state?.shown.human ? " --human" : ""} --out film${i || ""}.mp4`,
      ...(options.includes("--certified") ? [] : [`phuma share ${file}${options} --out page${i || ""}.html`]),
    ]),
    ...(about.path ? [`phuma view ${shellWord(about.path)}${about.review ? ` --review ${shellWord(about.review)}` : ""}`] : []),
  ];
  $("commands").replaceChildren(...lines.map(commandLine));
}

/** The commands that make what other presets make of a recording: the motion, and a film of it beside this one. */
function presetCommands(file) {
  const ids = view.clip.choices.filter(({ chosen, id }) => chosen && id.includes("@")).map(({ id }) => id.split(/[:@]/));
  return ids.flatMap(([robot, , preset]) => {
    const name = shellWord(`by_${preset}/${view.clip.path.split("/").pop().replace(/\.[^.]*$/, "")}.npz`);
    const on = ` --robot ${shellWord(about.folders?.[robot] ?? robot)}`;
    return [`phuma retarget ${file}${on} --preset ${preset} --out by_${preset}`, `phuma render ${file} ${name}${on} --out presets.mp4`];
  });
}

/** The options that put on the stage what is there: one line where the robots and methods are all pairs, else several. */
function chosenOptions() {
  const ids = view.clip.choices.filter(({ chosen, id }) => chosen && !id.includes("@")).map(({ id }) => id.split(/:(.*)/s));
  const certified = ids.some(([, how]) => how === "certified");
  if (certified) return [" --certified"];
  const options = (robots, methods) =>
    robots.map((robot) => ` --robot ${shellWord(about.folders?.[robot] ?? robot)}`).join("") + (methods.length ? ` --compare ${methods.join(" ")}` : "");
  const made = ids.filter(([, how]) => how !== "stored");
  const lines = made.length < ids.length ? [options(ids.filter(([, how]) => how === "stored").map(([robot]) => robot), [])] : [];
  const robots = [...new Set(made.map(([robot]) => robot))];
  const methods = [...new Set(made.map(([, how]) => how))];
  if (made.length && robots.length * methods.length === made.length) lines.push(options(robots, methods));
  else lines.push(...made.map(([robot, how]) => options([robot], [how])));
  return lines.length || ids.length < view.clip.choices.filter(({ chosen }) => chosen).length ? lines : [""];
}

// ---------------------------------------------------------------- judging by hand

function ownRow() {
  return list.rows.find((row) => row.clip === view.clip?.clip);
}

function showReview() {
  $("review-part").hidden = !about.review;
  if (!about.review || !view.clip) return;
  const review = ownRow()?.review ?? { verdict: "", label: "" };
  for (const input of document.querySelectorAll("#by-hand input[type=radio]")) input.checked = input.value === review.verdict;
  if (document.activeElement !== $("label")) $("label").value = review.label;
  const file = shellWord(about.review);
  $("review-commands").replaceChildren(
    commandLine(`phuma select ${shellWord(about.path)} --review ${file} --out selected`),
    commandLine(`phuma build RECORDINGS --review ${file} --out rebuilt`),
  );
}

function review() {
  if (!about.review || !view.clip) return;
  const verdict = document.querySelector("#by-hand input[type=radio]:checked")?.value ?? "";
  send({ type: "review", clip: view.clip.clip, verdict, label: $("label").value });
}

function reviewAs(verdict) {
  if (!about.review || !view.clip) return;
  for (const input of document.querySelectorAll("#by-hand input[type=radio]")) input.checked = input.value === verdict;
  review();
}

function commandLine(text) {
  const code = el("code", {}, text);
  const button = el("button", { type: "button", "aria-label": `Copy: ${plain(text)}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    } catch {
      getSelection().selectAllChildren(code); // no clipboard without a secure origin
    }
  });
  return el("div", { class: "command" }, code, button);
}

// ---------------------------------------------------------------- plots

let plots = []; // {element, drawing, cursor, low, high, say, limits, series: [{values, colour, output}]}
let plotWidth = 0;

function showPlots() {
  const { tracks } = view.clip;
  $("plots-part").hidden = !tracks.length;
  plots = tracks.map(makePlot);
  $("plots").replaceChildren(...plots.map(({ element }) => element));
  drawPlots();
}

function makePlot({ label, unit, limits, series }) {
  const outputs = series.map(({ name, colour }) => {
    const output = el("span", { title: plain(name) });
    output.style.setProperty("--series", colour);
    return output;
  });
  const cursor = el("i", { class: "cursor" });
  const drawing = svg("svg", { "aria-hidden": "true" });
  const canvas = el("div", { class: "canvas" }, drawing, cursor);
  const head = el(
    "div",
    { class: "plot-head" },
    plotName({ label, limits, series }),
    el("span", { class: "soft" }, unit ?? ""),
    el("span", { class: "plot-values" }, ...outputs),
  );
  scrubbable(canvas);
  const [low, high] = valueRange(series, limits);
  const digits = clamp(2 - Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high)))), 0, 5);
  const say = (value) => (value === null || value === undefined ? "–" : value.toFixed(digits));
  for (const output of outputs) output.style.minWidth = `calc(${Math.max(breadth(say(low)), breadth(say(high)))}ch + 11px)`;
  return {
    element: el("div", { class: "plot" }, head, canvas),
    drawing,
    cursor,
    low,
    high,
    say,
    limits,
    series: series.map(({ values, colour }, i) => ({ values, colour, output: outputs[i] })),
  };
}

/** The name of a plot; of one with a limit, a button that goes to its worst frame. */
function plotName(track) {
  if (!track.limits.length) return el("span", { class: "label", title: plain(track.label) }, track.label);
  const button = el("button", { class: "label", type: "button", title: `${plain(track.label)}: go to the worst frame` }, track.label);
  button.addEventListener("click", () => goToWorst([track]));
  return button;
}

/** Of a number, in digits: points and signs are narrower. */
function breadth(text) {
  return text.length - 0.45 * text.replace(/\d/g, "").length;
}

function drawPlots() {
  plotWidth = $("plots").clientWidth;
  if (!view.clip || !plotWidth) return;
  for (const plot of plots) plot.drawing.replaceChildren(...plotShapes(plot, view.clip.frames, plotWidth));
  repaint();
}

function plotShapes({ series, limits, low, high, say }, frames, width) {
  const y = (value) => PLOT.height - PLOT.pad - ((value - low) / (high - low)) * (PLOT.height - 2 * PLOT.pad);
  const x = (frame) => ((frame + 0.5) / frames) * width;
  const across = (kind, value) => svg("path", { class: kind, d: `M0 ${y(value).toFixed(1)}H${width}` });
  const word = (value, kind, end) => {
    const at = { x: end ? width - 3 : 3, y: clamp(y(value) + (y(value) < 14 ? 10 : -3), 9, PLOT.height - 3) };
    return svg("text", { ...at, class: kind, "text-anchor": end ? "end" : "start" }, say(value));
  };
  return [
    ...(low < 0 && high > 0 ? [across("zero", 0)] : []),
    ...limits.map((limit) => across("limit", limit)),
    ...series.map(({ values, colour }) => svg("path", { stroke: colour, d: outline(values, x, y, width) })),
    ...[low, high].filter((end) => !limits.includes(end)).map((end) => word(end, "", false)),
    ...limits.map((limit) => word(limit, "limit-text", true)),
  ];
}

/** Of all values and limits; from zero on where that costs little room. */
function valueRange(series, limits) {
  let low = Math.min(...limits);
  let high = Math.max(...limits);
  for (const { values } of series) {
    for (const value of values) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return [0, 1];
  if (low > 0 && low < high / 2) low = 0;
  const room = low === high ? Math.abs(low) / 10 || 1 : 0;
  return [low - room, high + room];
}

/** The path of one series. Of more than two frames a pixel: the smallest and the largest value, in their order. */
function outline(values, x, y, width) {
  const columns = values.length <= 2 * width ? values.length : Math.floor(width);
  const parts = [];
  let pen = "M";
  let drawn = 0; // points since the pen was set down
  const point = (frame) => {
    parts.push(`${pen}${x(frame).toFixed(1)} ${y(values[frame]).toFixed(1)}`);
    pen = "L";
    drawn += 1;
  };
  const lift = () => {
    if (drawn === 1) parts.push("h.1"); // a dot where there is a single value
    pen = "M";
    drawn = 0;
  };
  for (let column = 0; column < columns; column++) {
    const past = Math.floor(((column + 1) * values.length) / columns);
    let least = -1;
    let most = -1;
    for (let frame = Math.floor((column * values.length) / columns); frame < past; frame++) {
      if (values[frame] === null) continue;
      if (least < 0 || values[frame] < values[least]) least = frame;
      if (most < 0 || values[frame] > values[most]) most = frame;
    }
    if (least < 0) lift();
    else if (least === most) point(least);
    else [least, most].sort((a, b) => a - b).forEach(point);
  }
  lift();
  return parts.join("");
}

// ---------------------------------------------------------------- keys

const keys = {
  " ": () => setPlaying(!view.playing),
  ArrowLeft: ({ shiftKey }) => step(shiftKey ? -10 : -1),
  ArrowRight: ({ shiftKey }) => step(shiftKey ? 10 : 1),
  Home: () => step(-Infinity),
  End: () => step(Infinity),
  ArrowUp: () => chooseNeighbour(-1),
  ArrowDown: () => chooseNeighbour(1),
  w: () => goToWorst(),
  k: () => reviewAs("keep"),
  r: () => reviewAs("reject"),
  u: () => reviewAs(""),
  "/": () => {
    fold("clips");
    window.focus();
    $("search").focus();
    $("search").select();
  },
  "?": () => $("keys").showModal(),
};

let byTab = false; // the focus was moved by the keyboard

function onKey(event) {
  if (event.key === "Tab") byTab = true;
  const action = keys[event.key];
  if (!action || event.ctrlKey || event.altKey || event.metaKey || $("keys").open || ownsKey(event.target, event.key)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  action(event);
}

/** Whether a key belongs to the element that has the focus. */
function ownsKey(element, key) {
  if (!element.matches) return false;
  if (element.isContentEditable || element.matches("textarea, select, input:not([type=radio], [type=checkbox])")) return true;
  if (!byTab) return false; // after a click the space bar still plays
  if (element.matches("input[type=radio]")) return key === " " || key.startsWith("Arrow");
  return key === " " && element.matches("button:not(.row), summary, a, input");
}

/** The stage is a page of its own: it gets the same keys, before its camera does. */
function listenTo(target) {
  target.addEventListener("keydown", onKey, { capture: true });
  target.addEventListener("pointerdown", () => (byTab = false), { capture: true });
}

/** Below 1000 px the panels at the sides are folded: one at a time is open, until the stage is touched. */
function fold(panel) {
  for (const id of ["clips", "details"]) {
    $(id).classList.toggle("unfolded", id === panel);
    $(`fold-${id}`).ariaExpanded = String(id === panel);
  }
}

// ---------------------------------------------------------------- start

function wire() {
  $("filters").addEventListener("input", refilter);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("descending").addEventListener("click", () => {
    press($("descending"), $("descending").ariaPressed !== "true");
    refilter();
  });
  $("clear").addEventListener("click", clearFilters);
  $("previous-page").addEventListener("click", () => loadPage(list.page - 1));
  $("next-page").addEventListener("click", () => loadPage(list.page + 1));
  $("search").addEventListener("keydown", ({ key }) => key === "Escape" && $("search").blur());

  $("play").addEventListener("click", () => setPlaying(!view.playing));
  $("back").addEventListener("click", () => step(-1));
  $("forward").addEventListener("click", () => step(1));
  $("worst").addEventListener("click", () => goToWorst());
  for (const input of document.querySelectorAll("#by-hand input[type=radio]")) input.addEventListener("change", review);
  $("label").addEventListener("change", review);
  $("loop").addEventListener("click", () => send({ type: "loop", value: $("loop").ariaPressed !== "true" }));
  $("speed").addEventListener("change", () => send({ type: "speed", value: Number($("speed").value) }));
  $("follow").addEventListener("click", () => send({ type: "follow", value: $("follow").ariaPressed !== "true" }));
  $("reset").addEventListener("click", () => send({ type: "reset" }));
  $("layout").addEventListener("change", ({ target }) => send({ type: "layout", value: target.value }));
  for (const button of $("shown").children) button.addEventListener("click", () => toggleShown(button));
  scrubbable($("scrubber"));
  $("scrubber").addEventListener("keydown", ({ key }) => {
    if (key === "PageUp") step(10);
    if (key === "PageDown") step(-10);
  });

  $("help").addEventListener("click", () => $("keys").showModal());
  $("error-close").addEventListener("click", () => showError(null));
  $("fold-clips").addEventListener("click", () => fold("clips"));
  $("fold-details").addEventListener("click", () => fold("details"));
  $("stage").addEventListener("load", () => {
    $("stage-frame").classList.remove("waiting");
    listenTo($("stage").contentWindow);
    $("stage").contentWindow.addEventListener("pointerdown", () => fold(null));
  });
  $("stage-frame").addEventListener("pointerdown", () => fold(null));
  listenTo(window);
  // A list that was opened with the mouse gives the keys back.
  document.addEventListener("change", ({ target }) => !byTab && target.matches("select") && target.blur());
  document.addEventListener("keydown", ({ key }) => key === "Escape" && fold(null));
  window.addEventListener("hashchange", () => fromHash() && choose(fromHash()));
  new ResizeObserver(drawTimeline).observe($("scrubber"));
  new ResizeObserver(drawPlots).observe($("plots"));
}

/** The dataset's name and the first page; the clip of the address, else the first one. */
async function start() {
  try {
    await loadAbout();
  } catch (error) {
    return listFailed(error);
  }
  await loadPage(list.page);
  if (!view.wanted && list.rows.length) choose(list.rows[0]);
}

wire();
showState();
view.wanted = fromHash();
start();
connect();
