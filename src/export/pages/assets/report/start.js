/* Fills the page. */
showSummary();
showGaps();
setUpFunctions();
setUpFlame();
setUpSource();
setUpTimeline();
showTraps();
window.ntraceReport = { data: data, view: view, look: look, sortBy: sortBy, openSource: openSource, openFunction: openFunction };
