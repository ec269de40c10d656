// The live part of the page: what a policy is told while it is simulated, and the path that is drawn on the floor.

const DRAW_PIXELS = 6; // px between two points that are drawn
const DRAW_WAIT = 30; // ms between them

/** Wire the live part; `tools` are the page's own: $, el, plain, send. Returns what the page calls. */
export function livePart({ $, el, plain, send }) {
  let controls = null;

  function show(news) {
    controls = news;
    $("live-part").hidden = !news;
    $("told").hidden = news?.kind !== "told";
    $("path").hidden = news?.kind !== "path";
    $("live-mode").hidden = news?.kind !== "told";
    if (news?.kind === "told") showTold();
    if (news?.kind === "path") showPath();
    showDrawing();
  }

  // ---- what the policy is told

  function showTold() {
    const { bodies, fixed, gap, longest_gap: longest, far, note } = controls;
    const focused = document.activeElement?.id;
    $("told-bodies").replaceChildren(
      el("tr", {}, el("th"), el("th", {}, "position"), el("th", {}, "rotation")),
      ...bodies.map((row) => el("tr", {}, el("td", {}, row.name), ...["position", "rotation"].map((kind) => box(row, kind, fixed)))),
    );
    $("told-fixed").hidden = !fixed;
    $("told-fixed").textContent = fixed ? plain(`Not available: ${fixed}.`) : "";
    $("told-note").hidden = !note;
    $("told-note").textContent = plain(note ?? "");
    $("gap").max = longest;
    $("gap").step = longest / 16;
    if (document.activeElement !== $("gap")) $("gap").value = gap;
    $("gap-value").textContent = `${gap.toFixed(2)} s`;
    $("far").checked = far;
    $("gap").disabled = $("far").disabled = Boolean(fixed);
    if (focused) document.getElementById(focused)?.focus();
  }

  function box(row, kind, fixed) {
    const tick = el("input", { type: "checkbox", id: `tell-${row.body}-${kind}`, "aria-label": `${kind} of ${row.name}` });
    tick.checked = row[kind];
    tick.disabled = Boolean(fixed);
    if (fixed) tick.title = plain(fixed);
    tick.addEventListener("change", () => send({ type: "tell", body: row.body, kind, value: tick.checked }));
    return el("td", {}, tick);
  }

  // ---- the path on the floor

  function showPath() {
    const { drawn, walking, length, speed, fastest } = controls;
    $("walk").disabled = !drawn;
    $("walk").textContent = walking && drawn ? "Walk on" : "Walk";
    $("path-note").textContent = drawn
      ? `${length.toFixed(1)} m are drawn and not walked yet.`
      : walking
        ? "It walks. Draw on to make the path longer."
        : "Press and drag on the floor, or click points one after another.";
    $("pace").max = fastest;
    if (document.activeElement !== $("pace")) $("pace").value = speed;
    $("pace-value").textContent = `${speed.toFixed(1)} m/s`;
  }

  function showDrawing() {
    const mode = document.querySelector("#pointer :checked")?.value;
    $("drawing").hidden = controls?.kind !== "path" || mode !== "draw";
  }

  function wireDrawing() {
    const pad = $("drawing");
    let last = null; // {x, y, time} of the point drawn last while the button is down
    const draw = (event) => {
      const area = pad.getBoundingClientRect();
      const at = [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height];
      if (at.some((share) => !(share >= 0 && share <= 1))) return;
      last = { x: event.clientX, y: event.clientY, time: performance.now() };
      send({ type: "draw", at });
    };
    const lift = () => {
      if (last) send({ type: "pen", down: false });
      last = null;
    };
    pad.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pad.setPointerCapture(event.pointerId);
      send({ type: "pen", down: true });
      draw(event);
    });
    pad.addEventListener("pointermove", (event) => {
      if (!last || performance.now() - last.time < DRAW_WAIT) return;
      if (Math.hypot(event.clientX - last.x, event.clientY - last.y) >= DRAW_PIXELS) draw(event);
    });
    for (const name of ["pointerup", "pointercancel"]) pad.addEventListener(name, lift);
  }

  // ---- what there is to read

  function showFacts({ facts, fallen }) {
    $("live-facts").replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
    $("live-facts").classList.toggle("failed", fallen);
  }

  function showLive(isLive) {
    document.body.classList.toggle("live", isLive);
    for (const input of document.querySelectorAll("#live-mode input")) input.checked = (input.value === "live") === isLive;
    $("live-facts").hidden = !isLive;
  }

  $("live-mode").addEventListener("change", ({ target }) => send({ type: "live", value: target.value === "live" }));
  $("gap").addEventListener("input", () => send({ type: "gap", value: Number($("gap").value) }));
  $("far").addEventListener("change", () => send({ type: "far", value: $("far").checked }));
  $("pace").addEventListener("input", () => send({ type: "pace", value: Number($("pace").value) }));
  for (const id of ["walk", "clear-path", "again"]) {
    $(id).addEventListener("click", () => send({ type: id === "clear-path" ? "clear" : id }));
  }
  $("pointer").addEventListener("change", showDrawing);
  wireDrawing();
  return { show, showFacts, showLive, again: () => show(controls) };
}
