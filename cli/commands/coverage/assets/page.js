/* The filter of the tables, and folds. Without this script, the page has everything but the filter. */
(function () {
  "use strict";
  function id(name) { return document.getElementById(name); }
  var filter = id("filter"), only = id("only"), fold = id("fold"), found = id("found");
  var rows = document.querySelectorAll("#main table.rows > tbody > tr"), folds = document.querySelectorAll("#main details");

  function show() {
    var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), count = 0;
    rows.forEach(function (row) {
      var text = words.length ? row.textContent.toLowerCase() : "";
      var hit = words.every(function (word) { return text.indexOf(word) >= 0; });
      row.classList.toggle("out", !hit);
      if (hit) count++;
    });
    found.textContent = words.length ? count + (count === 1 ? " row" : " rows") : "";
    id("main").classList.toggle("only", only.checked);
  }

  /* A link to a part that is folded opens the part. */
  function follow() {
    var target = location.hash.length > 1 ? id(decodeURIComponent(location.hash.slice(1))) : null;
    for (var at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  }

  filter.addEventListener("input", show);
  only.addEventListener("change", show);
  fold.addEventListener("click", function () {
    var open = fold.textContent === "Open all";
    folds.forEach(function (one) { one.open = open; });
    fold.textContent = open ? "Close all" : "Open all";
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== filter) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "Escape" && document.activeElement === filter) {
      filter.value = "";
      show();
    }
  });
  window.addEventListener("hashchange", follow);
  id("tools").hidden = false;
  follow();
}());
