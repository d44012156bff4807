/* Source lines with counts. */
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
  id("source-rule").textContent = "Lines are counted by the rule of " + data.source.rule + "." + (data.source.by_code ? " The lines of "
    + count(data.source.by_code) + " functions are counted by their code alone, which llvm-cov counts by the source." : "");
  id("source-file").addEventListener("change", function () { openSource(this.value); });
  openSource((hot || list[0])[0], hottestLine(hot));
}

function hottestLine(f) {
  var best = null;
  ((f && f[ROWS]) || []).forEach(function (l) { if (l[3] && (!best || l[3] > best[3])) best = l; });
  return best && best[0];
}
