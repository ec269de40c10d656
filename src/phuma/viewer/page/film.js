"use strict";
// Plays a film, a human and a robot in step: all that is drawn follows from the time in the film, `now`.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const COLOURS = { kept: "#2f9e5b", rejected: "#c8403a", spoiled: "#8d949f", noted: "#d6a54a" };
const SURE = 0.3; // visibility from which on a landmark is drawn

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

// ---- vectors and matrices: column-major 4 x 4, as WebGL has them

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a) => { const n = Math.hypot(...a) || 1; return a.map((v) => v / n); };

function times(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}

function lookAt(eye, at) {
  const z = unit(sub(eye, at)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0,
    -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1,
    0, 0, 2 * far * near / (near - far), 0]);
}

// A bone from a to b: its z axis along it, as long as it is, with a radius.
function boneMatrix(a, b, radius) {
  const along = sub(b, a), z = unit(along);
  const x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), y = cross(z, x);
  const s = (v, k) => v.map((n) => n * k);
  return new Float32Array([...s(x, radius), 0, ...s(y, radius), 0, ...along, 0, ...a, 1]);
}

const ballMatrix = (p, r) => new Float32Array([r, 0, 0, 0, 0, r, 0, 0, 0, 0, r, 0, ...p, 1]);

// ---- meshes

function normalsOf(vertices, faces) {
  const out = new Float32Array(vertices.length), at = (i) => vertices.subarray(3 * i, 3 * i + 3);
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [faces[f], faces[f + 1], faces[f + 2]];
    const n = cross(sub(at(b), at(a)), sub(at(c), at(a)));
    for (const i of [a, b, c]) for (let k = 0; k < 3; k++) out[3 * i + k] += n[k];
  }
  return out;
}

function cylinder(sides) {
  const vertices = [], faces = [];
  for (let i = 0; i < sides; i++) {
    const angle = 2 * Math.PI * i / sides, next = (i + 1) % sides;
    vertices.push(Math.cos(angle), Math.sin(angle), 0, Math.cos(angle), Math.sin(angle), 1);
    faces.push(2 * i, 2 * next, 2 * i + 1, 2 * next, 2 * next + 1, 2 * i + 1);
  }
  return { vertices: new Float32Array(vertices), faces: new Uint16Array(faces) };
}

function ball(rings, sides) {
  const vertices = [], faces = [];
  for (let r = 0; r <= rings; r++)
    for (let s = 0; s <= sides; s++) {
      const polar = Math.PI * r / rings, angle = 2 * Math.PI * s / sides;
      vertices.push(Math.sin(polar) * Math.cos(angle), Math.sin(polar) * Math.sin(angle), Math.cos(polar));
    }
  for (let r = 0; r < rings; r++)
    for (let s = 0; s < sides; s++) {
      const a = r * (sides + 1) + s, b = a + sides + 1;
      faces.push(a, b, a + 1, a + 1, b, b + 1);
    }
  return { vertices: new Float32Array(vertices), faces: new Uint16Array(faces) };
}

// ---- a view: a canvas with a floor and things on it, seen from around a point that it follows

const VERTEX = `attribute vec3 p, n; uniform mat4 view, model; varying vec3 normal;
void main() { normal = mat3(model) * n; gl_Position = view * model * vec4(p, 1.0); }`;
const FRAGMENT = `precision mediump float; varying vec3 normal; uniform vec3 colour; uniform float lit;
void main() { float d = dot(normalize(normal), normalize(vec3(-0.5, 0.45, 0.75)));
  gl_FragColor = vec4(colour * mix(1.0, 0.62 + 0.38 * d, lit), 1.0); }`;

class View {
  constructor(canvas, height) {
    this.canvas = canvas;
    this.height = height;
    this.turn = Math.PI; // the camera of the film looks along x
    this.raise = 0.15;
    const gl = this.gl = canvas.getContext("webgl", { antialias: true });
    if (!gl) return;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.DEPTH_TEST);
    this.at = Object.fromEntries(["p", "n"].map((name) => [name, gl.getAttribLocation(program, name)]));
    this.set = Object.fromEntries(["view", "model", "colour", "lit"].map((n) => [n, gl.getUniformLocation(program, n)]));
    this.grid = this.lines();
    canvas.addEventListener("pointerdown", (e) => canvas.setPointerCapture(e.pointerId));
    canvas.addEventListener("pointermove", (e) => {
      if (!e.buttons) return;
      this.turn -= e.movementX * 0.01;
      this.raise = Math.min(1.5, Math.max(-0.1, this.raise + e.movementY * 0.01));
      draw();
    });
  }

  mesh({ vertices, faces }) {
    const gl = this.gl, buffer = (target, values) => {
      const b = gl.createBuffer();
      gl.bindBuffer(target, b);
      gl.bufferData(target, values, gl.STATIC_DRAW);
      return b;
    };
    const normals = normalsOf(vertices, faces);
    return { p: buffer(gl.ARRAY_BUFFER, vertices), n: buffer(gl.ARRAY_BUFFER, normals),
      faces: buffer(gl.ELEMENT_ARRAY_BUFFER, faces), count: faces.length };
  }

  lines() {
    const gl = this.gl, ends = [];
    for (let a = -12; a <= 12; a++)
      for (let b = -12; b < 12; b++)
        for (const [x, y] of [[0, 1], [1, 0]])
          ends.push((x ? b : a) / 2, (x ? a : b) / 2, 0, ((x ? b : a) + x) / 2, ((x ? a : b) + y) / 2, 0);
    const p = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, p);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(ends), gl.STATIC_DRAW);
    return { p, count: ends.length / 3 };
  }

  begin(follow) {
    const gl = this.gl, canvas = this.canvas, sharp = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(canvas.clientWidth * sharp), Math.round(canvas.clientHeight * sharp)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    gl.viewport(0, 0, w, h);
    gl.clearColor(0.96, 0.97, 0.98, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const far = 1.95 * this.height * Math.max(1, 0.75 * h / w), at = [follow[0], follow[1], 0.5 * this.height];
    const eye = [at[0] + far * Math.cos(this.turn) * Math.cos(this.raise),
      at[1] + far * Math.sin(this.turn) * Math.cos(this.raise), at[2] + far * Math.sin(this.raise)];
    gl.uniformMatrix4fv(this.set.view, false, times(perspective(0.6, w / h, 0.05, 60), lookAt(eye, at)));
    const tile = (v) => 0.5 * Math.round(2 * v);
    gl.uniformMatrix4fv(this.set.model, false, new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0,
      tile(follow[0]), tile(follow[1]), 0, 1]));
    gl.uniform1f(this.set.lit, 0);
    gl.uniform3f(this.set.colour, 0.83, 0.85, 0.88);
    gl.disableVertexAttribArray(this.at.n);
    gl.vertexAttrib3f(this.at.n, 0, 0, 1);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.grid.p);
    gl.enableVertexAttribArray(this.at.p);
    gl.vertexAttribPointer(this.at.p, 3, gl.FLOAT, false, 0, 0);
    gl.drawArrays(gl.LINES, 0, this.grid.count);
    gl.uniform1f(this.set.lit, 1);
    gl.enableVertexAttribArray(this.at.n);
  }

  put(mesh, model, colour) {
    const gl = this.gl;
    for (const name of ["p", "n"]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh[name]);
      gl.vertexAttribPointer(this.at[name], 3, gl.FLOAT, false, 0, 0);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.faces);
    gl.uniformMatrix4fv(this.set.model, false, model);
    gl.uniform3fv(this.set.colour, colour);
    gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_SHORT, 0);
  }
}

// ---- the three pictures

const rgb = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255);
const part = (parts, t) => parts.findLast((p) => t >= p.start - 1e-6 && t < p.start + p.frames / p.fps);
const frameAt = (p, t) => Math.max(0, Math.min(p.frames - 1, Math.round((t - p.start) * p.fps)));

const stills = data.stills.jpegs.map((jpeg) => {
  const image = new Image();
  image.src = `data:image/jpeg;base64,${jpeg}`;
  image.onload = () => draw();
  return image;
});
const marks = { ...data.landmarks, image: new Int16Array(bytes(data.landmarks.image)),
  seen: new Uint8Array(bytes(data.landmarks.seen)) };

function drawFilm() {
  const canvas = byId("film"), sharp = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(canvas.clientWidth * sharp), Math.round(canvas.clientHeight * sharp)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d"), [width, height] = marks.size;
  const scale = Math.min(w / width, h / height), left = (w - scale * width) / 2, top = (h - scale * height) / 2;
  context.clearRect(0, 0, w, h);
  const still = stills[Math.min(stills.length - 1, Math.floor(now * data.stills.fps + 1e-6))];
  if (still.complete && still.naturalWidth) context.drawImage(still, left, top, scale * width, scale * height);
  const frame = Math.min(marks.seen.length / marks.count - 1, Math.round(now * marks.fps)), first = frame * marks.count;
  const point = (i) => [left + scale * marks.image[2 * (first + i)], top + scale * marks.image[2 * (first + i) + 1]];
  context.lineWidth = Math.max(2, 0.006 * h);
  context.lineCap = "round";
  for (const [a, b, colour] of marks.bones) {
    if (Math.min(marks.seen[first + a], marks.seen[first + b]) < 255 * SURE) continue;
    context.strokeStyle = colour;
    context.beginPath();
    context.moveTo(...point(a));
    context.lineTo(...point(b));
    context.stroke();
  }
}

const people = data.people.map((p) => ({ ...p, joints: new Float32Array(bytes(p.joints)) }));
const joints = data.parents.length, human = new View(byId("human"), 1.75), HEAD = 15;
const rod = human.gl && human.mesh(cylinder(12)), sphere = human.gl && human.mesh(ball(8, 12));

function drawHuman() {
  if (!human.gl) return say("nobody", "this browser has no WebGL");
  const own = part(people, now + data.start);
  say("nobody", own ? "" : why() || "not followed here");
  if (!own) return human.begin([0, 0, 0]);
  const first = 3 * joints * frameAt(own, now + data.start);
  const at = (j) => own.joints.subarray(first + 3 * j, first + 3 * j + 3);
  human.begin(at(0));
  for (let j = 1; j < joints; j++) {
    const colour = rgb(data.sides[j]);
    human.put(rod, boneMatrix([...at(data.parents[j])], [...at(j)], 0.022), colour);
    human.put(sphere, ballMatrix(at(j), j === HEAD ? 0.1 : 0.03), colour);
  }
}

const robot = data.robot && new View(byId("robot"), 1.75 * data.robot.height / 0.7575 * 0.75);
const bodies = robot && robot.gl ? data.robot.bodies.map((shapes) => shapes.map((shape) => ({ colour: shape.colour,
  mesh: robot.mesh({ vertices: new Float32Array(bytes(shape.vertices)), faces: new Uint16Array(bytes(shape.faces)) }),
}))) : [];
const layers = data.layers.map(({ name, motions }) => ({ name,
  motions: motions.map((m) => ({ ...m, poses: new Float32Array(bytes(m.poses)) })) }));

function drawRobot() {
  if (!robot) return say("norobot", "no clip was kept, so there is nothing for the robot to do; the reasons are below");
  if (!robot.gl) return say("norobot", "this browser has no WebGL");
  const own = part(layers[byId("layer").selectedIndex].motions, now + data.start);
  say("norobot", own ? "" : why() || "no clip is kept here");
  if (!own) return robot.begin([0, 0, 0]);
  const first = 12 * bodies.length * frameAt(own, now + data.start), q = own.poses;
  robot.begin([q[first + 3], q[first + 7]]);
  bodies.forEach((shapes, b) => {
    const m = q.subarray(first + 12 * b, first + 12 * b + 12);
    const model = new Float32Array([m[0], m[4], m[8], 0, m[1], m[5], m[9], 0, m[2], m[6], m[10], 0,
      m[3], m[7], m[11], 1]);
    for (const { mesh, colour } of shapes) robot.put(mesh, model, colour);
  });
}

// ---- time

let now = 0, playing = false, before = 0;

function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

function why() {
  const t = now + data.start, here = data.spans.filter((s) => t >= s.start && t < s.end);
  return (here.find((s) => s.kind === "rejected") || here.find((s) => s.kind === "spoiled") || {}).text || "";
}

function draw() {
  drawFilm();
  drawHuman();
  drawRobot();
  const clock = (t) => `${Math.floor(t / 60)}:${(t % 60).toFixed(1).padStart(4, "0")}`;
  say("clock", `${clock(now + data.start)} / ${clock(data.start + data.seconds)}`);
  byId("time").value = now;
}

function step(stamp) {
  if (!playing) return;
  const gone = Math.max(0, stamp - before); // a frame is stamped with its beginning, which may be before the click
  now = (now + Number(byId("speed").value) * gone / 1000) % data.seconds;
  before = stamp;
  draw();
  requestAnimationFrame(step);
}

function play(on) {
  playing = on;
  byId("play").textContent = on ? "\u23f8" : "\u25b6";
  before = performance.now();
  if (on) requestAnimationFrame(step);
}

function seek(t) {
  now = Math.max(0, Math.min(data.seconds - 1e-3, t));
  draw();
}

byId("time").max = data.seconds;
byId("time").addEventListener("input", (e) => seek(Number(e.target.value)));
byId("play").addEventListener("click", () => play(!playing));
window.addEventListener("keydown", (e) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (e.target.tagName === "SELECT") return;
  if (e.key === " ") play(!playing);
  else if (by) seek(now + by / marks.fps);
  else return;
  e.preventDefault();
});
window.addEventListener("resize", draw);
for (const { name } of layers) byId("layer").append(new Option(name));
byId("layer").hidden = layers.length < 2;
byId("layer").addEventListener("change", draw);
for (const span of data.spans) {
  const block = document.createElement("div"), share = (t) => `${100 * (t - data.start) / data.seconds}%`;
  block.style.left = share(span.start);
  block.style.width = `${100 * (span.end - span.start) / data.seconds}%`;
  block.style.background = COLOURS[span.kind];
  block.title = span.text;
  byId("lanes").append(block);
}
draw();
