(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("data").textContent);
  var summary = data.summary;

  /* ---- small helpers */

  function id(name) { return document.getElementById(name); }
  function count(n) { return n.toLocaleString("en-US"); }
  function plural(n, one, many) { return count(n) + " " + (n === 1 ? one : many || one + "s"); }
  function share(part, whole) { return whole ? 100 * part / whole : 0; }
  function percent(part, whole) { return share(part, whole).toFixed(2) + " %"; }
  function base(path) { return path.slice(path.lastIndexOf("/") + 1); }

  function make(tag, attributes, content) {
    var element = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (key) { element.setAttribute(key, attributes[key]); });
    [].concat(content === undefined ? [] : content).forEach(function (child) {
      element.appendChild(typeof child === "object" ? child : document.createTextNode(child));
    });
    return element;
  }

  function put(parent, children) { [].concat(children).forEach(function (c) { parent.appendChild(c); }); return parent; }
  function cell(content, kind) { return make("td", kind ? { "class": kind } : {}, content); }

  function heading(columns) {
    return make("thead", {}, make("tr", {}, columns.map(function (c) {
      return make("th", { scope: "col", "class": c.text ? "text" : "" }, make("span", {}, c.title));
    })));
  }

  function time(ticks) {
    var rate = summary.ticksPerSecond, ns;
    if (!data.timeline.timed) return plural(Math.round(ticks), "instruction");
    if (!rate) return plural(Math.round(ticks), "tick");
    ns = ticks / rate * 1e9;
    return ns < 1e3 ? ns.toFixed(0) + " ns" : ns < 1e6 ? (ns / 1e3).toFixed(2) + " \u00b5s" :
      ns < 1e9 ? (ns / 1e6).toFixed(3) + " ms" : (ns / 1e9).toFixed(4) + " s";
  }

  /* ---- summary */

  function card(title, value, note, part) {
    var dd = make("dd", {}, [value]);
    if (note) dd.appendChild(make("small", {}, note));
    var box = make("div", {}, [make("dt", {}, title), dd]);
    if (part !== undefined) {
      var bar = make("i");
      bar.style.width = part + "%";
      dd.appendChild(put(make("div", { "class": "meter", "aria-hidden": "true" }), bar));
    }
    return box;
  }

  function covered(title, sums, unit) {
    var note = count(sums[1]) + " of " + plural(sums[0], unit);
    if (sums[2]) note += ", " + count(sums[2]) + " not known";
    return card(title, sums[0] ? percent(sums[1], sums[0]) : "\u2013", sums[0] ? note : "no debug information",
      sums[0] ? share(sums[1], sums[0]) : undefined);
  }

  function showSummary() {
    var gaps = data.gaps.count;
    var whole = data.timeline.timed ? "over " + time(data.timeline.length) + ", " : "";
    id("lead").textContent = plural(summary.instructions, "instruction") + ", " + whole +
      "on " + plural(summary.harts.length, "hart") + "; " + (gaps ? plural(gaps, "gap") : "no gaps") + ".";
    put(id("cards"), [
      card("Instructions", count(summary.instructions), summary.harts.length > 1 ? "on " + plural(summary.harts.length, "hart") : ""),
      card("Executed functions", count(data.functions.count), data.functions.rows.length ? "hottest: " + data.functions.rows[0][0] : ""),
      covered("Lines covered", summary.lines, "line"),
      covered("Branch outcomes covered", summary.branches, "outcome"),
      covered("Functions covered", summary.functions, "function")
    ]);
    summary.facts.concat(summary.harts.length < 2 ? [] : summary.harts.map(function (h) {
      return ["source " + h[0], plural(h[1], "instruction")];
    })).forEach(function (f) { put(id("facts"), [make("dt", {}, f[0]), make("dd", {}, f[1])]); });
  }

  /* ---- gaps and losses */

  function showGaps() {
    var g = data.gaps, body = id("gaps-body"), lost = g.count + g.losses.length;
    if (!lost && !g.overflows && !g.blind) {
      put(body, make("p", { "class": "notice good" }, "The trace is complete: this report includes every instruction."));
      return;
    }
    id("gaps-badge").textContent = count(lost);
    id("gaps-badge").classList.toggle("on", lost > 0);
    if (g.count) {
      put(body, make("p", { "class": "notice bad" }, plural(g.count, "gap") + " in the trace, " + plural(g.bytes, "byte") +
        " could not be decoded. Execution in a gap is not counted; lines that a gap may hide are \u201cnot known\u201d."));
      put(body, make("ul", {}, g.reasons.map(function (r) { return make("li", {}, count(r[1]) + " \u00d7 " + r[0]); })));
    }
    if (g.overflows) put(body, make("p", { "class": "notice bad" }, "The encoder lost messages " + plural(g.overflows, "time") + " (overflow)."));
    if (g.blind) put(body, make("p", { "class": "notice" }, plural(g.blind, "run") + " through code without an image: followed, but not counted."));
    if (g.losses.length) put(body, [make("h3", {}, "Losses reported by the capture"), make("ul", {}, g.losses.map(function (l) { return make("li", {}, l); }))]);
    if (!g.rows.length) return;
    var table = make("table", {}, [heading([{ title: "source" }, { title: "bytes from" }, { title: "to" }, { title: "message" },
      { title: "reason", text: 1 }, { title: "last known address", text: 1 }, { title: "resumes at", text: 1 }]),
    make("tbody", {}, g.rows.map(function (r) {
      return make("tr", {}, [cell(r[0]), cell("@0x" + r[1].toString(16)), cell("@0x" + r[2].toString(16)), cell("#" + r[3]),
        cell(r[4], "text"), cell(r[5] || "\u2013", "name"), cell(r[6] || "\u2013", "name")]);
    }))]);
    put(body, make("div", { "class": "scroll", tabindex: "0", role: "region", "aria-label": "Gaps" }, table));
    if (g.count > g.rows.length) put(body, make("p", { "class": "hint" }, "The first " + count(g.rows.length) + " gaps are shown."));
  }

  /* ---- functions */

  var NAME = 0, FILE = 1, LINE = 2, SELF = 3, TOTAL = 4, CALLS = 5, SELF_TICKS = 6, TOTAL_TICKS = 7, ADDRESS = 8, IMAGE = 9, STEP = 100, MOST_CALLS = 12;
  var CALLER = 0, CALLEE = 1;
  var functions = { sort: SELF, down: true, term: "", shown: STEP, open: null };

  function functionColumns() {
    var columns = [{ key: NAME, title: "Function", text: 1 }, { key: SELF, title: "Self" }, { key: TOTAL, title: "Total" },
      { key: CALLS, title: "Calls" }];
    if (data.functions.ticks) columns.push({ key: SELF_TICKS, title: "Self time" }, { key: TOTAL_TICKS, title: "Total time" });
    return columns.concat([{ key: FILE, title: "File or image", text: 1 }]);
  }

  function bar(n, whole) {
    var td = cell([count(n) + " ", make("small", {}, percent(n, whole))], "bar");
    td.style.backgroundSize = (share(n, whole) * 0.94).toFixed(2) + "% 76%";
    return td;
  }

  function place(row) {
    if (!row[FILE]) return cell(row[IMAGE] ? make("bdi", { title: row[IMAGE] }, base(row[IMAGE])) : "", "place");
    var text = base(row[FILE]) + ":" + row[LINE], known = files[row[FILE]] !== undefined;
    var td = cell(known ? make("button", { type: "button", "class": "link", title: row[FILE] }, text) : make("bdi", { title: row[FILE] }, text), "place");
    if (known) td.firstChild.addEventListener("click", function () { openSource(row[FILE], row[LINE], true); });
    return td;
  }

  function link(text, act, title) {
    var button = make("button", title ? { type: "button", "class": "link", title: title } : { type: "button", "class": "link" }, text);
    button.addEventListener("click", act);
    return button;
  }

  function functionRow(row) {
    var whole = data.functions.instructions, open = functions.open === row;
    var name = link(row[NAME], function () { openFunction(open ? null : row); }, row[NAME] + " at " + row[ADDRESS] + (row[IMAGE] ? " of " + row[IMAGE] : ""));
    var cells = [cell(name, "name"), bar(row[SELF], whole), bar(row[TOTAL], whole), cell(count(row[CALLS]))];
    name.setAttribute("aria-expanded", open);
    if (data.functions.ticks) cells.push(cell(time(row[SELF_TICKS])), cell(time(row[TOTAL_TICKS])));
    cells = [make("tr", open ? { "class": "open" } : {}, cells.concat([place(row)]))];
    return open ? cells.concat([make("tr", { "class": "details" }, make("td", { colspan: functionColumns().length }, details(row)))]) : cells;
  }

  /* Functions on the other side of the calls from or to this one. The list is sorted by instructions. */
  function callList(row, own, other, title) {
    var number = data.functions.rows.indexOf(row), whole = row[TOTAL];
    var found = data.functions.calls.filter(function (c) { return c[own] === number; });
    var list = found.slice(0, MOST_CALLS).map(function (c) {
      var target = data.functions.rows[c[other]];
      return make("li", {}, [link(target[NAME], function () { openFunction(target); }, target[NAME]), " ",
        make("small", {}, plural(c[2], "call") + ", " + percent(c[3], whole))]);
    });
    if (found.length > MOST_CALLS) list.push(make("li", {}, make("small", {}, "and " + count(found.length - MOST_CALLS) + " more")));
    return make("div", {}, [make("h3", {}, title), list.length ? make("ul", {}, list) : make("p", { "class": "hint" }, "none")]);
  }

  function details(row) {
    var where = row[NAME] + ", " + row[ADDRESS] + (row[IMAGE] ? " of " + base(row[IMAGE]) : ""), more = [];
    if (row[FILE] && files[row[FILE]] !== undefined)
      more.push(link("Source", function () { openSource(row[FILE], row[LINE], true); }));
    more.push(link("Flame graph", function () {
      id("flame-search").value = row[NAME];
      searchFlame(row[NAME]);
      id("flame").scrollIntoView();
    }));
    return make("div", { "class": "function" }, [make("p", { "class": "where" }, where), make("p", {}, more),
      make("div", { "class": "calls" }, [callList(row, CALLEE, CALLER, "Called by"), callList(row, CALLER, CALLEE, "Calls")])]);
  }

  /* Show callers and callees below the row of a function, which is shown if it is not. */
  function openFunction(row) {
    var found = foundFunctions();
    functions.open = row;
    if (row && found.indexOf(row) < 0) {
      id("functions-search").value = functions.term = "";
      found = foundFunctions();
    }
    if (row) functions.shown = Math.max(functions.shown, found.indexOf(row) + 1);
    showFunctions();
    var at = id("functions-table").querySelector("tr.open");
    if (!at) return;
    at.querySelector("button").focus({ preventScroll: true });
    at.scrollIntoView({ block: "nearest" });
    at.nextSibling.scrollIntoView({ block: "nearest" });
  }

  function key(row) { return functions.sort === FILE ? row[FILE] || row[IMAGE] : row[functions.sort]; }
  function compare(a, b) { return typeof a === "number" ? a - b : (a || "").localeCompare(b || ""); }

  function foundFunctions() {
    var term = functions.term.toLowerCase(), sign = functions.down ? -1 : 1;
    return data.functions.rows.filter(function (r) {
      return !term || r[NAME].toLowerCase().indexOf(term) >= 0 || (r[FILE] || "").toLowerCase().indexOf(term) >= 0 ||
        (r[IMAGE] || "").toLowerCase().indexOf(term) >= 0;
    }).sort(function (a, b) { return sign * compare(key(a), key(b)) || b[SELF] - a[SELF]; });
  }

  function showFunctions() {
    var found = foundFunctions(), table = id("functions-table"), self = 0, body = table.tBodies[0];
    found.forEach(function (r) { self += r[SELF]; });
    body.replaceChildren.apply(body, Array.prototype.concat.apply([], found.slice(0, functions.shown).map(functionRow)));
    id("functions-more").hidden = found.length <= functions.shown;
    id("functions-status").textContent = plural(found.length, "function") + ", " + percent(self, data.functions.instructions) +
      " of the instructions" + (data.functions.count > data.functions.rows.length ? "; the " + count(data.functions.rows.length) + " hottest are here" : "");
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th) {
      th.setAttribute("aria-sort", +th.dataset.key !== functions.sort ? "none" : functions.down ? "descending" : "ascending");
    });
  }

  function sortBy(key) {
    functions.down = functions.sort === key ? !functions.down : key !== NAME && key !== FILE;
    functions.sort = key;
    showFunctions();
  }

  function setUpFunctions() {
    var head = make("tr", {}, functionColumns().map(function (c) {
      var button = make("button", { type: "button" }, c.title);
      button.addEventListener("click", function () { sortBy(c.key); });
      return make("th", { scope: "col", "data-key": c.key, "class": c.text ? "text" : "" }, button);
    }));
    put(id("functions-table"), [make("thead", {}, head), make("tbody")]);
    id("functions-search").addEventListener("input", function () { functions.term = this.value; functions.shown = STEP; showFunctions(); });
    id("functions-more").addEventListener("click", function () { functions.shown += 5 * STEP; showFunctions(); });
    showFunctions();
  }

  /* ---- flame graph: has a script of its own */

  function setUpFlame() {
    var box = document.querySelector(".flame-box");
    box.scrollTop = box.scrollHeight; /* the root is at the bottom */
    id("flame-search").addEventListener("input", function () { searchFlame(this.value); });
  }

  function searchFlame(text) {
    var part = window.ntraceFlame.search(text);
    id("flame-status").textContent = text ? (100 * part).toFixed(2) + " % of the instructions" : "";
  }

  /* ---- source */

  var files = {}, ROWS = 5;
  data.source.files.forEach(function (f, i) { files[f[0]] = i; });

  function outcome(branch) {
    var none = !branch[0] && !branch[1], one = !branch[0] !== !branch[1];
    var what = none ? "never reached" : one ? (branch[0] ? "always taken" : "never taken") : "both ways";
    return make("span", { "class": "branch" + (none ? " none" : one ? " one" : ""), title: what + ", branch at " + branch[2] },
      "taken " + count(branch[0]) + ", not " + count(branch[1]));
  }

  function sourceRow(l, most) {
    var times = l[2] === undefined ? "" : l[2] < 0 ? "?" : count(l[2]), instructions = l[3] ? count(l[3]) : "";
    var row = make("tr", { "data-line": l[0], "class": l[2] === 0 ? "zero" : l[2] < 0 ? "unknown" : "" }, [
      cell(times), cell(instructions), cell(String(l[0]), "n"),
      cell(l[1] === null ? "" : l[1], "src"), cell((l[4] || []).map(outcome), "out")]);
    if (l[3]) row.cells[0].style.background = row.cells[1].style.background =
      "rgba(var(--heat)," + (0.05 + 0.5 * Math.sqrt(l[3] / most)).toFixed(3) + ")";
    if (l[2] < 0) row.cells[0].title = "not known: a gap may hide executions";
    return row;
  }

  function sourceBody(lines) {
    var most = 1, body = make("tbody"), before = 0;
    lines.forEach(function (l) { most = Math.max(most, l[3] || 0); });
    lines.forEach(function (l) {
      if (l[0] !== before + 1) put(body, make("tr", { "class": "cut" }, make("td", { colspan: "5" }, "\u22ef")));
      put(body, sourceRow(l, most));
      before = l[0];
    });
    return body;
  }

  function sourceNote(f) {
    if (!f[ROWS]) return f[1] ? "This file is not shown because of the size limit of the report." : "No instruction of this file was executed.";
    return plural(f[1], "instruction") + "; " + (f[4] ? "" : "source text not found, only counts; ") + count(f[2][1]) + " of " +
      plural(f[2][0], "line") + " executed" + (f[2][2] ? ", " + count(f[2][2]) + " not known" : "") +
      (f[3][0] ? "; " + count(f[3][1]) + " of " + plural(f[3][0], "branch outcome") + " covered" : "");
  }

  function openSource(file, line, jump) {
    var f = data.source.files[files[file]], table = id("source-table");
    id("source-file").value = file;
    id("source-status").textContent = sourceNote(f);
    id("source-scroll").hidden = !f[ROWS];
    table.replaceChildren();
    if (f[ROWS]) put(table, [heading([{ title: "times" }, { title: "instructions" }, { title: "line" }, { title: "source", text: 1 },
      { title: "branches", text: 1 }]), sourceBody(f[ROWS])]);
    var row = line && table.querySelector("tr[data-line='" + line + "']");
    if (row) row.classList.add("here");
    if (jump) id("source").scrollIntoView();
    id("source-scroll").scrollTop = row ? Math.max(0, row.offsetTop - 120) : 0;
    if (jump) id("source-scroll").focus({ preventScroll: true });
  }

  function fileRow(f) {
    return make("tr", {}, [cell(f[0], "name"), cell(count(f[1])), cell(f[2][1] + " / " + f[2][0]), cell(percent(f[2][1], f[2][0])),
      cell(count(f[2][2])), cell(f[3][1] + " / " + f[3][0])]);
  }

  function setUpSource() {
    var list = data.source.files, hot = null;
    if (!list.length) {
      id("source-status").textContent = "The program has no debug information with files and lines (compile with -g).";
      id("source-file").disabled = true;
      id("source-scroll").hidden = true;
      return;
    }
    list.forEach(function (f) {
      put(id("source-file"), make("option", { value: f[0] }, base(f[0]) + " \u2013 " + percent(f[1], summary.instructions)));
      if (!hot && f[ROWS]) hot = f;
    });
    put(id("files-table"), [heading([{ title: "file", text: 1 }, { title: "instructions" }, { title: "lines" }, { title: "covered" },
      { title: "not known" }, { title: "branch outcomes" }]), make("tbody", {}, list.map(fileRow))]);
    id("source-file").addEventListener("change", function () { openSource(this.value); });
    openSource((hot || list[0])[0], hottestLine(hot));
  }

  function hottestLine(f) {
    var best = null;
    ((f && f[ROWS]) || []).forEach(function (l) { if (l[3] && (!best || l[3] > best[3])) best = l; });
    return best && best[0];
  }

  /* ---- timeline: a canvas, with the detail limited by the number of pixels */

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

  /* ---- interrupts and exceptions */

  function unit(n, what) { return what === "instructions" ? count(n) : time(n); }

  /* One bar per power of two from 1. Heights are square roots, so that rare values are visible. */
  function histogram(spread, what) {
    var NS = "http://www.w3.org/2000/svg", svg = document.createElementNS(NS, "svg"), most = Math.max.apply(null, spread[6]);
    var text = spread[6].map(function (n, i) { return n ? count(n) + " \u00d7 " + unit(Math.pow(2, i), what) + " to " + unit(Math.pow(2, i + 1), what) : ""; }).filter(Boolean).join("; ");
    svg.setAttribute("class", "spread");
    svg.setAttribute("width", spread[6].length * 7);
    svg.setAttribute("height", 24);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "Histogram: " + text);
    spread[6].forEach(function (n, i) {
      var bar = document.createElementNS(NS, "rect"), high = n ? Math.max(2, 22 * Math.sqrt(n / most)) : 0.5;
      bar.setAttribute("x", i * 7);
      bar.setAttribute("y", 24 - high);
      bar.setAttribute("width", 6);
      bar.setAttribute("height", high);
      svg.appendChild(bar);
    });
    var title = document.createElementNS(NS, "title");
    title.textContent = text;
    svg.appendChild(title);
    return svg;
  }

  function spreadRow(t, what, title, first) {
    var s = t[what], cells = first ?
      [cell(t.name, "name"), cell(t.kind, "text"), cell(count(t.count)), cell(t.nested ? count(t.nested) : "")] :
      [cell("", "name"), cell("", "text"), cell(""), cell("")];
    if (first) cells[0].title = t.name + " at " + t.address + ", source " + t.src;
    return make("tr", { "class": first ? "first" : "" }, cells.concat([cell(title, "text")], s ?
      [unit(s[2], what), unit(s[3], what), unit(s[4], what), unit(s[5], what), unit(s[1] / s[0], what)].map(function (v) { return cell(v); }).concat([cell(histogram(s, what), "text")]) :
      [cell("\u2013"), cell(""), cell(""), cell(""), cell(""), cell(t.unfinished ? "not finished" : "", "text")]));
  }

  function showTraps() {
    var body = id("traps-body"), traps = data.traps.rows, rows = [], timed = data.timeline.timed;
    if (!traps.length) {
      put(body, make("p", { "class": "notice" }, "No interrupt or exception occurred."));
      return;
    }
    traps.slice().sort(function (a, b) { return b.count - a.count; }).forEach(function (t) {
      rows.push(spreadRow(t, "instructions", "instructions", true));
      if (t.ticks) rows.push(spreadRow(t, "ticks", "duration"));
      if (t.before) rows.push(spreadRow(t, "before", "since the previous message"));
      if (t.after) rows.push(spreadRow(t, "after", "until the next message"));
    });
    put(body, make("div", { "class": "scroll", tabindex: "0", role: "region", "aria-labelledby": "h-traps" }, make("table", {}, [
      heading([{ title: "handler", text: 1 }, { title: "kind", text: 1 }, { title: "entries" }, { title: "nested" }, { title: "per entry", text: 1 },
        { title: "minimum" }, { title: "median" }, { title: "99 %" }, { title: "maximum" }, { title: "mean" }, { title: "histogram", text: 1 }]),
      make("tbody", {}, rows)])));
    if (timed) put(body, make("p", { "class": "hint" }, "The latency from the event to the first instruction of the handler is at most the sum of the times since the previous message and until the next message."));
    if (data.traps.leftOut) put(body, make("p", { "class": "hint" }, plural(data.traps.leftOut, "entry", "entries") + " of further handlers are not shown."));
  }

  showSummary();
  showGaps();
  setUpFunctions();
  setUpFlame();
  setUpSource();
  setUpTimeline();
  showTraps();
  window.ntraceReport = { data: data, view: view, look: look, sortBy: sortBy, openSource: openSource, openFunction: openFunction };
})();
