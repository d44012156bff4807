/* Interrupts and exceptions. */
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
