/* The timeline: a canvas, with the detail limited by the number of pixels. */
var ROW = 17, GAP = 14, LABEL = 16, AXIS = 22, MAX_DEPTH = 24;
var view = { from: 0, span: Math.max(data.timeline.length, 1), tracks: [], height: 0, hover: null };

function colour(name, kind) {
  var hash = 5381, i;
  if (kind === "gaps") return "#c9362c";
  if (kind === "contexts") return "#8f9bb3";
  for (i = 0; i < name.length; i++) hash = (hash * 33 ^ name.charCodeAt(i)) >>> 0;
  return kind === "traps" ? "hsl(" + (200 + hash % 25) + ",70%,72%)" :
    "hsl(" + (12 + hash % 40) + "," + (72 + (hash >>> 6) % 20) + "%," + (62 + (hash >>> 11) % 12) + "%)";
}

/* Slices are sorted by begin, outer slices first. A stack of their ends gives the depth. */
function layOut(track) {
  var ends = [], deepest = 0;
  var slices = track.slices.map(function (s) {
    while (ends.length && ends[ends.length - 1] <= s[0]) ends.pop();
    var name = typeof s[2] === "number" ? data.timeline.names[s[2] - 1] || "[other]" : s[2], depth = Math.min(ends.length, MAX_DEPTH);
    ends.push(s[0] + s[1]);
    deepest = Math.max(deepest, depth);
    return { begin: s[0], length: s[1], name: name, depth: depth, colour: colour(name, track.kind) };
  });
  var owner = track.thread === undefined ? "source " + track.src : track.thread + (track.pid === undefined ? "" : " (" + track.pid + ")");
  var title = owner + " \u00b7 " + track.kind +
    (track.thread === undefined && track.context !== "0" ? " \u00b7 context 0x" + track.context : "");
  return { title: title, slices: slices, depth: deepest + 1, top: 0 };
}

function niceStep(span, most) {
  var step = Math.pow(10, Math.floor(Math.log10(span / most)));
  return [1, 2, 5, 10].map(function (n) { return n * step; }).find(function (s) { return span / s <= most; });
}

function ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

/* A label on the axis: without the unit when all are counts. */
function axisLabel(at) { return data.timeline.timed ? time(at) : count(Math.round(at)); }

/* Positions and labels of the axis: labels do not overlap and end inside of the width. */
function axisMarks(g, width) {
  var widest = g.measureText(axisLabel(view.from + view.span)).width + 14, marks = [];
  var step = Math.max(niceStep(view.span, Math.min(8, Math.max(1, Math.floor(width / widest)))), 1);
  for (var at = Math.ceil(view.from / step) * step; at <= view.from + view.span; at += step) {
    var x = (at - view.from) / view.span * width, text = axisLabel(at);
    marks.push({ x: x, text: x + 3 + g.measureText(text).width <= width ? text : "" });
  }
  return marks;
}

function drawAxis(g, width, height) {
  g.fillStyle = ink("--soft");
  g.strokeStyle = ink("--line");
  view.marks = axisMarks(g, width);
  view.marks.forEach(function (m) {
    g.beginPath(); g.moveTo(m.x + 0.5, AXIS - 6); g.lineTo(m.x + 0.5, height); g.stroke();
    g.fillText(m.text, m.x + 3, 12);
  });
}

function drawTrack(g, track, width) {
  var filled = []; /* for each depth, the pixel up to which it was drawn */
  g.fillStyle = ink("--soft");
  g.fillText(track.title, 2, track.top - 4);
  track.slices.forEach(function (s) {
    var x = (s.begin - view.from) / view.span * width, w = s.length / view.span * width, right = Math.min(x + w, width);
    if (right < 0 || x > width || (w < 1 && Math.floor(x) === filled[s.depth])) return;
    filled[s.depth] = Math.floor(x);
    x = Math.max(x, 0);
    w = Math.max(right - x, 1);
    g.fillStyle = s.colour;
    g.fillRect(x, track.top + s.depth * ROW, w > 2 ? w - 0.6 : w, ROW - 1);
    if (s === view.hover) { g.strokeStyle = ink("--ink"); g.strokeRect(x + 0.5, track.top + s.depth * ROW + 0.5, Math.max(w - 1, 1), ROW - 2); }
    var room = Math.floor((w - 6) / 6.7);
    if (room < 3) return;
    g.fillStyle = "#1a1a1a";
    g.fillText(s.name.length <= room ? s.name : s.name.slice(0, room - 1) + "\u2026", x + 3, track.top + s.depth * ROW + 12);
  });
}

function draw() {
  var canvas = id("time-canvas"), width = canvas.clientWidth, scale = window.devicePixelRatio || 1, g = canvas.getContext("2d");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(view.height * scale);
  canvas.style.height = view.height + "px";
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, view.height);
  g.font = "11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  drawAxis(g, width, view.height);
  view.tracks.forEach(function (t) { drawTrack(g, t, width); });
  id("time-status").textContent = time(view.from) + " to " + time(view.from + view.span);
}

function look(from, span) {
  view.span = Math.min(Math.max(span, Math.min(10, data.timeline.length || 1)), Math.max(data.timeline.length, 1));
  view.from = Math.min(Math.max(from, 0), Math.max(data.timeline.length - view.span, 0));
  draw();
}

function zoom(factor, around) {
  var at = around === undefined ? 0.5 : around;
  look(view.from + view.span * at * (1 - factor), view.span * factor);
}

function sliceAt(x, y) {
  var at = view.from + x * view.span, near = view.span / 600, found = null;
  view.tracks.forEach(function (t) {
    t.slices.forEach(function (s) {
      var top = t.top + s.depth * ROW;
      if (y >= top && y < top + ROW && at >= s.begin - near && at <= s.begin + s.length + near &&
          (!found || Math.abs(s.begin + s.length / 2 - at) < Math.abs(found.begin + found.length / 2 - at))) found = s;
    });
  });
  return found;
}

/* Where it begins, for "monitor goto" of ntrace gdb, and for ntrace view: a time, or the number of the hart's instruction. */
function gotoPoint(s) {
  return "goto " + (data.timeline.timed ? "t:" : "") + (BigInt(data.timeline.base) + BigInt(s.begin));
}

function hover(s) {
  if (s === view.hover) return;
  view.hover = s;
  id("time-hover").textContent = s ? s.name + ": " + time(s.length) + ", from " + time(s.begin) + "; " + gotoPoint(s) : "\u00a0";
  draw();
}

function timeKeys(e) {
  var keys = { "+": [0.5], "=": [0.5], "-": [2], ArrowLeft: [1, -0.2], ArrowRight: [1, 0.2], Home: null, Escape: null };
  if (!(e.key in keys) || e.ctrlKey || e.metaKey) return;
  e.preventDefault();
  if (!keys[e.key]) look(0, data.timeline.length);
  else if (keys[e.key].length === 1) zoom(keys[e.key][0]);
  else look(view.from + view.span * keys[e.key][1], view.span);
}

function setUpPointer(canvas) {
  var grabbed = null;
  function spot(e) {
    var box = canvas.getBoundingClientRect();
    return { x: (e.clientX - box.left) / box.width, y: e.clientY - box.top };
  }
  canvas.addEventListener("pointerdown", function (e) { grabbed = { x: spot(e).x, from: view.from }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", function () { grabbed = null; });
  canvas.addEventListener("pointerleave", function () { hover(null); });
  canvas.addEventListener("pointermove", function (e) {
    var at = spot(e);
    if (grabbed) look(grabbed.from - (at.x - grabbed.x) * view.span, view.span);
    else hover(sliceAt(at.x, at.y));
  });
  canvas.addEventListener("dblclick", function (e) { var s = sliceAt(spot(e).x, spot(e).y); if (s) look(s.begin, s.length); });
  canvas.addEventListener("wheel", function (e) {
    if (!e.ctrlKey && !e.shiftKey) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, spot(e).x);
  }, { passive: false });
}

function setUpTimeline() {
  var t = data.timeline, top = AXIS, canvas = id("time-canvas");
  view.tracks = t.tracks.map(layOut);
  view.tracks.forEach(function (track) { track.top = top + LABEL; top = track.top + track.depth * ROW + GAP; });
  view.height = Math.max(top, 60);
  canvas.setAttribute("aria-label", "Timeline of " + plural(t.tracks.length, "track") + " over " + time(t.length));
  id("time-about").textContent = (t.timed ? "Times are timestamps of the trace. " : "The trace has no timestamps: times are instruction counts of each hart. ") +
    (t.shortest ? "Functions and traps shorter than " + time(t.shortest) + " are not shown. " : "") +
    "Plus and minus zoom, arrow keys move, Home shows everything; Ctrl with the mouse wheel zooms, dragging moves, a double click zooms to a slice.";
  id("time-in").addEventListener("click", function () { zoom(0.5); });
  id("time-out").addEventListener("click", function () { zoom(2); });
  id("time-left").addEventListener("click", function () { look(view.from - view.span / 4, view.span); });
  id("time-right").addEventListener("click", function () { look(view.from + view.span / 4, view.span); });
  id("time-all").addEventListener("click", function () { look(0, t.length); });
  canvas.addEventListener("keydown", timeKeys);
  setUpPointer(canvas);
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  look(0, t.length);
}
