(function () {
  "use strict";
  var svg = document.documentElement, NS = svg.namespaceURI;
  var frames = Array.prototype.slice.call(svg.querySelectorAll("g.frame"));
  var status = svg.getElementById("status"), box = svg.getElementById("search");
  var width = +svg.getAttribute("data-width"), pad = +svg.getAttribute("data-pad");
  var zoomed = null, term = "";

  function number(g, key) { return +g.getAttribute("data-" + key); }

  /* Put every frame where it belongs when [from, from + span) of the whole fills the width. */
  function layout(from, span) {
    frames.forEach(function (g) {
      var x = (number(g, "x") - from) / span, w = number(g, "w") / span;
      var above = x <= 1e-9 && x + w >= 1 - 1e-9;
      var left = Math.max(x, 0), right = Math.min(x + w, 1), shown = (right - left) * width;
      g.style.display = right > left && shown >= 0.3 ? "" : "none";
      g.classList.toggle("above", above && zoomed !== null && g !== zoomed && number(g, "w") > number(zoomed, "w"));
      if (right <= left) return;
      var rect = g.querySelector("rect"), text = g.querySelector("text");
      rect.setAttribute("x", pad + left * width);
      rect.setAttribute("width", Math.max(shown - 0.4, 0.1));
      text.setAttribute("x", pad + left * width + 3);
      var room = Math.floor((shown - 6) / 6.6), name = g.getAttribute("data-name");
      text.textContent = room < 3 ? "" : name.length <= room ? name : name.slice(0, room - 1) + "\u2026";
    });
  }

  function say(text) { status.textContent = text; }
  function describe(g) { return g.querySelector("title").textContent; }

  function zoom(g) {
    zoomed = g && number(g, "w") < 1 ? g : null;
    layout(zoomed ? number(g, "x") : 0, zoomed ? number(g, "w") : 1);
    svg.getElementById("reset").style.display = zoomed ? "" : "none";
  }

  /* Colour what matches; tell which part of the whole lies below a match, each stack once. */
  function search(text) {
    var part = 0, covered = [], matches = 0;
    term = text;
    frames.forEach(function (g) {
      var hit = term !== "" && g.getAttribute("data-name").toLowerCase().indexOf(term.toLowerCase()) >= 0;
      g.classList.toggle("match", hit);
      if (!hit) return;
      matches++;
      var x = number(g, "x"), w = number(g, "w");
      if (!covered.some(function (c) { return x >= c[0] - 1e-12 && x + w <= c[1] + 1e-12; })) {
        covered.push([x, x + w]);
        part += w;
      }
    });
    say(term === "" ? "" : matches + " frames match \u201c" + term + "\u201d: " + (100 * part).toFixed(2) + " %");
    return part;
  }

  function ask() {
    var text = window.prompt("Search for a function:", term);
    if (text !== null) search(text);
  }

  frames.forEach(function (g) {
    g.setAttribute("tabindex", "0");
    g.addEventListener("click", function () { zoom(g); });
    g.addEventListener("focus", function () { say(describe(g)); });
    g.addEventListener("mouseover", function () { say(describe(g)); });
    g.addEventListener("keydown", function (e) { if (e.key === "Enter" || e.key === " ") { zoom(g); e.preventDefault(); } });
  });
  svg.getElementById("reset").addEventListener("click", function () { zoom(null); });
  box.addEventListener("click", ask);
  window.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { zoom(null); search(""); }
    if ((e.ctrlKey && e.key === "f") || e.key === "/" || e.key === "F3") { e.preventDefault(); ask(); }
  });
  layout(0, 1);
  window.ntrace = { zoom: zoom, search: search, frames: frames };
})();
