(function () {
  "use strict";
  /* The graph is a file of its own or an element of a page. In a page the script changes that element only. */
  var script = document.currentScript, svg = script ? script.closest("svg") : document.documentElement;
  var alone = svg === document.documentElement;
  var frames = Array.prototype.slice.call(svg.querySelectorAll("g.frame"));
  var status = svg.querySelector(".status"), box = svg.querySelector(".search"), reset = svg.querySelector(".reset");
  var width = +svg.getAttribute("data-width"), pad = +svg.getAttribute("data-pad");
  var zoomed = null, term = "", current = frames[0], full = width;
  var heading = svg.querySelector("text.title"), words = heading.textContent;

  function number(g, key) { return +g.getAttribute("data-" + key); }
  function row(g) { return +g.querySelector("rect").getAttribute("y"); }
  function shown(g) { return g.style.display !== "none"; }

  /* Set the position of every frame so that [from, from + span) of the total fills the width. */
  function layout(from, span) {
    frames.forEach(function (g) {
      var x = (number(g, "x") - from) / span, w = number(g, "w") / span;
      var above = x <= 1e-9 && x + w >= 1 - 1e-9;
      var left = Math.max(x, 0), right = Math.min(x + w, 1), wide = (right - left) * width;
      g.style.display = right > left && wide >= 0.3 ? "" : "none";
      g.classList.toggle("above", above && zoomed !== null && g !== zoomed && number(g, "w") > number(zoomed, "w"));
      if (right <= left) return;
      var rect = g.querySelector("rect"), text = g.querySelector("text");
      rect.setAttribute("x", pad + left * width);
      rect.setAttribute("width", Math.max(wide - 0.4, 0.1));
      text.setAttribute("x", pad + left * width + 3);
      var room = Math.floor((wide - 6) / 7.3), name = g.getAttribute("data-name");
      text.textContent = room < 3 ? "" : name.length <= room ? name : name.slice(0, room - 1) + "\u2026";
    });
  }

  function say(text) { status.textContent = text; }
  function describe(g) { return g.querySelector("title").textContent; }

  function zoom(g) {
    zoomed = g && number(g, "w") < 1 ? g : null;
    layout(zoomed ? number(zoomed, "x") : 0, zoomed ? number(zoomed, "w") : 1);
    reset.style.display = zoomed ? "" : "none";
  }

  /* Where the graph is narrower than its drawing, such as on a phone, lay it out again instead of scaling its text down. */
  function fit() {
    var seen = svg.getBoundingClientRect().width, room = Math.max(seen, 260), narrow = room < full;
    var view = svg.getAttribute("viewBox").split(" "), letters = Math.floor((room - 2 * pad) / 9.8);
    var next = narrow ? room - 2 * pad : full;
    if (!seen || next === width) return;
    width = next;
    view[2] = width + 2 * pad;
    svg.setAttribute("viewBox", view.join(" "));
    heading.textContent = narrow && words.length > letters ? words.slice(0, letters - 1) + "\u2026" : words;
    [box, reset].forEach(function (e, i) {
      e.setAttribute("x", width - (i ? 160 : 50));
      e.setAttribute("y", narrow ? 54 : 22);
    });
    zoom(zoomed);
  }

  /* Colour the matching frames and compute their share of the total; nested matches of a stack count once. */
  function search(text) {
    var part = 0, end = -1, matches = [];
    term = text;
    frames.forEach(function (g) {
      var hit = term !== "" && g.getAttribute("data-name").toLowerCase().indexOf(term.toLowerCase()) >= 0;
      g.classList.toggle("match", hit);
      if (hit) matches.push([number(g, "x"), number(g, "w")]);
    });
    /* Sorted from left to right, wide frames first. A frame that begins before the end of the last counted one is above it. */
    matches.sort(function (a, b) { return a[0] - b[0] || b[1] - a[1]; });
    matches.forEach(function (m) {
      if (m[0] < end - 1e-12) return;
      part += m[1];
      end = m[0] + m[1];
    });
    say(term === "" ? "" : matches.length + " frames match \u201c" + term + "\u201d: " + (100 * part).toFixed(2) + " %");
    return part;
  }

  function ask() {
    var text = window.prompt("Search for a function:", term);
    if (text !== null) search(text);
  }

  /* Only one frame is in the tab order; arrow keys move the focus up, down and sideways. */
  function focus(g) {
    if (!g) return;
    current.setAttribute("tabindex", "-1");
    current = g;
    g.setAttribute("tabindex", "0");
    g.focus();
  }

  function nearest(test) {
    var x = number(current, "x"), best = null;
    frames.forEach(function (g) {
      if (shown(g) && test(row(g) - row(current), number(g, "x") - x) &&
          (!best || Math.abs(number(g, "x") - x) < Math.abs(number(best, "x") - x))) best = g;
    });
    return best;
  }

  var step = number(frames[0] || svg, "w") ? 17 : 0;
  var moves = {
    ArrowUp: function (dy, dx) { return dy === -step && dx >= -1e-12 && dx < number(current, "w"); },
    ArrowDown: function (dy, dx) { return dy === step && dx <= 1e-12; },
    ArrowLeft: function (dy, dx) { return dy === 0 && dx < 0; },
    ArrowRight: function (dy, dx) { return dy === 0 && dx > 0; }
  };

  function pressed(e) {
    if (e.key === "Enter" || e.key === " ") zoom(this);
    else if (moves[e.key]) focus(nearest(moves[e.key]));
    else return;
    e.preventDefault();
  }

  frames.forEach(function (g) {
    g.setAttribute("tabindex", g === current ? "0" : "-1");
    g.addEventListener("click", function () { zoom(g); });
    g.addEventListener("focus", function () { say(describe(g)); });
    g.addEventListener("mouseover", function () { say(describe(g)); });
    g.addEventListener("keydown", pressed);
  });

  function button(element, act) {
    element.addEventListener("click", act);
    element.addEventListener("keydown", function (e) { if (e.key === "Enter" || e.key === " ") { act(); e.preventDefault(); } });
  }
  button(reset, function () { zoom(null); });
  button(box, ask);
  (alone ? window : svg).addEventListener("keydown", function (e) {
    if (e.key === "Escape") { zoom(null); search(""); }
    if (e.key === "/" || (alone && ((e.ctrlKey && e.key === "f") || e.key === "F3"))) { e.preventDefault(); ask(); }
  });
  layout(0, 1);
  fit();
  window.addEventListener("resize", fit);
  window.ntraceFlame = { zoom: zoom, search: search, frames: frames, focus: focus };
})();
