/* The table of functions, their callers and callees, and the search in the flame graph, which has a script of its own. */
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
