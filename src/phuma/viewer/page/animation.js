"use strict";
// Plays figures made of capsules on a canvas: seen from around a point that follows them, turned by dragging.
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("stage"), pen = canvas.getContext("2d");
const play = document.getElementById("play"), time = document.getElementById("time"), now = document.getElementById("now");
const METRES = 0.001, FOCAL = 1.6, AWAY = 2.6 * data.tall;

function numbers(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return new Int16Array(out.buffer);
}

const middle = numbers(data.middle);
const figures = data.figures.map((f) => ({ ...f, points: numbers(f.points), count: 2 * f.radius.length }));
let frame = 0, turn = 0.9, raise = 0.25, playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, last = 0;

// The number at `index` of frames with `width` numbers each, between two frames.
function between(values, width, index) {
  const a = Math.floor(frame), b = Math.min(a + 1, data.frames - 1), share = frame - a;
  return METRES * (values[a * width + index] * (1 - share) + values[b * width + index] * share);
}

function camera() {
  const [cx, cy] = [between(middle, 3, 0), between(middle, 3, 1)];
  const [ct, st, cr, sr] = [Math.cos(turn), Math.sin(turn), Math.cos(raise), Math.sin(raise)];
  const scale = FOCAL * Math.min(canvas.width, 1.4 * canvas.height);
  return (x, y, z) => {
    const dx = x - cx, dy = y - cy, dz = z - 0.52 * data.tall;
    const ahead = ct * dx + st * dy, depth = AWAY - (cr * ahead + sr * dz);
    return [canvas.width / 2 + scale * (ct * dy - st * dx) / depth,
      canvas.height / 2 - scale * (cr * dz - sr * ahead) / depth, depth, scale / depth];
  };
}

function floor(seen) {
  const [cx, cy] = [between(middle, 3, 0), between(middle, 3, 1)].map((v) => Math.round(2 * v) / 2);
  pen.lineWidth = 1;
  pen.strokeStyle = "#8885";
  pen.beginPath();
  for (let k = -4; k <= 4; k++)
    for (const [a, b] of [[[cx - 2, cy + k / 2], [cx + 2, cy + k / 2]], [[cx + k / 2, cy - 2], [cx + k / 2, cy + 2]]]) {
      const p = seen(...a, 0), q = seen(...b, 0);
      if (p[2] > 0.2 && q[2] > 0.2) { pen.moveTo(p[0], p[1]); pen.lineTo(q[0], q[1]); }
    }
  pen.stroke();
}

function shade(colour, light) {
  const parts = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return `rgb(${parts.map((c) => Math.max(0, Math.min(255, Math.round(c * light)))).join(",")})`;
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const seen = camera();
  floor(seen);
  pen.lineCap = "round";
  const lines = [];
  for (const f of figures)
    for (let c = 0; c < f.radius.length; c++) {
      const at = (k) => [0, 1, 2].map((i) => between(f.points, 3 * f.count, 6 * c + 3 * k + i));
      const a = seen(...at(0)), b = seen(...at(1));
      lines.push({ f, a, b, r: f.radius[c], depth: (a[2] + b[2]) / 2 });
    }
  lines.sort((p, q) => q.depth - p.depth);
  for (const { f, a, b, r, depth } of lines) {
    const wide = Math.max(1, (a[3] + b[3]) * r), light = 1.25 - 0.12 * (depth - AWAY + 1);
    pen.globalAlpha = f.ghost ? 0.35 : 1;
    for (const [more, tone] of f.ghost ? [[1, light]] : [[1, 0.62 * light], [0.78, light]]) {
      pen.strokeStyle = shade(f.colour, tone);
      pen.lineWidth = wide * more;
      pen.beginPath();
      pen.moveTo(a[0], a[1]);
      pen.lineTo(b[0] + 0.01, b[1]);
      pen.stroke();
    }
  }
  pen.globalAlpha = 1;
  time.value = frame;
  now.textContent = `${(frame / data.fps).toFixed(2)} s`;
}

function set(on) { playing = on; play.textContent = on ? "pause" : "play"; }

function step(at) {
  if (playing) {
    frame += data.fps * Math.min(0.1, (at - last) / 1000);
    if (frame > data.frames - 1) frame = 0;
    draw();
  }
  last = at;
  requestAnimationFrame(step);
}

play.addEventListener("click", () => set(!playing));
time.addEventListener("input", () => { set(false); frame = Number(time.value); draw(); });
canvas.addEventListener("pointerdown", (e) => canvas.setPointerCapture(e.pointerId));
canvas.addEventListener("pointermove", (e) => {
  if (!e.buttons) return;
  turn -= 0.01 * e.movementX;
  raise = Math.max(-0.1, Math.min(1.4, raise + 0.01 * e.movementY));
  draw();
});
window.addEventListener("resize", draw);
set(playing);
draw();
requestAnimationFrame(step);
