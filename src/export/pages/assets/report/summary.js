/* The summary, gaps and losses. */
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
