/* The data of the page, and what all parts of the script share: numbers as text, elements. */
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
