// The page: what is seen is the state in the address; every change asks for what is missing and draws.
import {by, el, fill, grouped, table} from "./dom";
import {compare} from "./difference";
import {code, flame, functions, gaps, messages, notes, type Page} from "./panels";
import {parse, print, type View} from "./state";
import {drawOverview, drawTimeline, type Box} from "./timeline";
import {traps} from "./traps";
import type {Transport} from "./transport";
import type {About, Answer, Found, Gaps, Names, Overview, Question, Slices} from "./types";
import {nameHarts, num} from "./types";

const TABS: [string, string, (page: Page) => Promise<(Node | string | null | undefined)[]>][] = [
  ["code", "Code", code], ["functions", "Functions", functions], ["flame", "Flame graph", flame], ["messages", "Messages", messages],
  ["gaps", "Gaps", gaps], ["traps", "Traps", traps], ["notes", "Notes", notes], ["compare", "Compare", compare],
];
const KEYS: [string, string][] = [
  ["← →", "earlier, later"], ["+ −", "zoom in, out (also the wheel, over the timeline)"], ["0", "the whole trace"],
  [", .", "one instruction back, forward"], ["Home End", "the first, the last instruction"],
  ["/", "search"], ["n p", "next, previous execution of what was searched"], ["l", "when was this line executed before here"], ["g G", "next, previous gap"],
  ["1 to 8", "the views below"], ["m", "add a note"], ["e", "export what is seen as JSON"], ["?", "this list"],
];

export async function start(transport: Transport): Promise<void> {
  const view: View = {trace: 0, from: 0, to: 0, position: 0, tab: "code", search: "", notes: [], ...parse(location.hash)};
  let total = 0, boxes: Box[] = [], seen: Record<string, Answer> = {}, turn = 0, known: {overview?: Overview; gaps?: Gaps; slices?: Slices} = {};

  const status = (text: string): void => { by("status").textContent = text; };
  const ask = async <T>(question: Question, trace = view.trace): Promise<T> => {
    for (let tries = 0; ; tries++) {
      const answer = await transport.ask(trace, question);
      if (answer.error) throw new Error(answer.error);
      if (!answer.interrupted || tries === 20) {
        seen[question.query] = answer;
        return answer as T;
      }
      status(`${question.query}: still searching; ${grouped(answer.progress.known)} instructions read`);
    }
  };
  const page: Page = {view, traces: await transport.traces(), ask, go, zoom, find, change: () => void refresh()};

  function clip(): void {
    view.to = Math.min(view.to || total, total);
    view.from = Math.max(0, Math.min(view.from, view.to - 1));
    view.position = Math.max(0, Math.min(view.position, total));
  }
  function zoom(from: number, to: number): void {
    const size = Math.max(8, Math.min(Math.round(to - from), total));
    view.from = Math.max(0, Math.min(Math.round(from), total - size));
    view.to = view.from + size;
    void refresh();
  }
  function go(position: number): void {
    view.position = position;
    if (position < view.from || position >= view.to) {
      const size = view.to - view.from;
      view.from = Math.max(0, Math.min(position - Math.round(size / 2), total - size));
      view.to = view.from + size;
    }
    void refresh();
  }
  const scale = (factor: number, around = view.position): void => {
    const center = around >= view.from && around <= view.to ? around : (view.from + view.to) / 2;
    zoom(center - (center - view.from) * factor, center + (view.to - center) * factor);
  };
  const pan = (share: number): void => { const step = (view.to - view.from) * share; zoom(view.from + step, view.to + step); };

  function find(text: string, direction: "next" | "previous"): void {
    view.search = text;
    by<HTMLInputElement>("text").value = text;
    void tell(async () => {
      status("searching");
      const found = await ask<Found>({query: "find", text, position: view.position, direction});
      status(found.found ? "" : `${text}: not executed ${direction === "next" ? "after" : "before"} this position`);
      if (found.found) {
        view.tab = ["functions", "flame", "traps"].includes(view.tab) ? "code" : view.tab;
        go(num(found.position));
      }
    });
  }
  async function tell(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (problem) {
      status(problem instanceof Error ? problem.message : String(problem));
    }
  }

  /* ---- drawing */

  function draw(): void {
    if (known.overview) drawOverview(by("overview"), known.overview, known.gaps?.gaps ?? [], total, view);
    if (known.slices) boxes = drawTimeline(by("slices"), known.slices, known.gaps?.gaps ?? [], view);
  }
  function describe(): void {
    const size = view.to - view.from, least = num(known.slices?.least);
    by("range").textContent = `${grouped(view.from)} to ${grouped(view.to)} of ${grouped(total)} (${grouped(size)} instructions)${least > 1 ? `; functions below ${grouped(least)} instructions are too short to be seen` : ""}`;
    const answer = known.slices;
    if (!answer) return;
    const longest = [...answer.slices].sort((a, b) => num(b.end) - num(b.begin) - num(a.end) + num(a.begin)).slice(0, 100);
    fill(by("slices-table"), table("The longest functions of the range", [">hart", ">depth", ">from", ">instructions", "function"],
      longest.map((slice) => [String(slice.src), String(slice.depth), grouped(slice.begin), grouped(num(slice.end) - num(slice.begin)), answer.functions[slice.function]?.name ?? "?"]),
      (row) => zoom(num(longest[row].begin), num(longest[row].end))));
  }
  async function progress(): Promise<void> {
    const about = await ask<About>({query: "about"});
    const old = total;
    nameHarts(about.harts);
    total = num(about.instructions);
    if (view.to === old || !view.to) view.to = total;
    document.title = `${about.title ?? "trace"} - ntrace`;
    by("title").textContent = about.title ?? "trace";
    const p = about.progress, reading = !p.read ? `reading, ${p.size ? `${Math.floor(100 * num(p.bytes) / num(p.size))} %` : `${grouped(p.bytes)} bytes`}` : `indexing, ${Math.floor(100 * num(p.indexed) / Math.max(1, num(p.known)))} %`;
    by("lead").textContent = [`${grouped(about.instructions)} instructions`, `${about.harts.length} hart${about.harts.length === 1 ? "" : "s"}`,
      ...about.facts.filter((fact) => fact.label === "program").map((fact) => fact.value.split(" ")[0].replace(/^.*\//, "")), ...(about.damage ? [about.damage] : []), ...about.losses.slice(0, 2), ...(p.complete ? [] : [reading])].join(", ");
    known.overview = await ask<Overview>({query: "overview", columns: Math.min(800, Math.max(100, by("overview").clientWidth))});
    known.gaps = await ask<Gaps>({query: "gaps"});
    if (!p.complete) setTimeout(() => void tell(async () => { await progress(); await refresh(); }), 500);
  }
  async function refresh(): Promise<void> {
    const mine = ++turn;
    clip();
    history.replaceState(null, "", print(view));
    draw();
    await tell(async () => {
      const begun = performance.now();
      const slices = await ask<Slices>({query: "slices", from: view.from, to: view.to});
      if (mine !== turn) return;
      known.slices = slices;
      draw();
      describe();
      document.body.dataset.step = (performance.now() - begun).toFixed(1);
      const tab = TABS.find(([name]) => name === view.tab) ?? TABS[0];
      for (const [name] of TABS) by(`tab-${name}`).setAttribute("aria-selected", String(name === tab[0]));
      by("panel").setAttribute("aria-labelledby", `tab-${tab[0]}`);
      const parts = await tab[2](page);
      if (mine !== turn) return;
      fill(by("panel"), ...parts);
      for (const row of by("panel").querySelectorAll<HTMLElement>("tr.here")) {
        const area = row.closest<HTMLElement>(".scroll");
        if (area) area.scrollTop = row.offsetTop - area.clientHeight / 2;
      }
      document.body.dataset.ready = String(mine);
    });
  }

  /* ---- pointer */

  const positionAt = (canvas: HTMLCanvasElement, event: MouseEvent, from: number, to: number): number => {
    const area = canvas.getBoundingClientRect();
    return from + Math.max(0, Math.min(1, (event.clientX - area.left) / area.width)) * (to - from);
  };
  const slices = by<HTMLCanvasElement>("slices"), overview = by<HTMLCanvasElement>("overview");
  const under = (event: MouseEvent): Box | undefined => {
    const area = slices.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    return boxes.find((box) => x >= box.x && x < box.x + Math.max(box.width, 1) && y >= box.y && y < box.y + box.height);
  };
  function drag(canvas: HTMLCanvasElement, bounds: () => [number, number], click: (event: PointerEvent) => void): void {
    let first: number | null = null;
    canvas.addEventListener("pointerdown", (event) => { first = positionAt(canvas, event, ...bounds()); canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", (event) => {
      if (first === null) return;
      const last = positionAt(canvas, event, ...bounds()), [from, to] = bounds();
      if (Math.abs(last - first) > (to - from) / 100) zoom(Math.min(first, last), Math.max(first, last));
      else click(event);
      first = null;
    });
  }
  drag(overview, () => [0, total], (event) => go(Math.floor(positionAt(overview, event, 0, total))));
  drag(slices, () => [view.from, view.to], (event) => go(Math.floor(positionAt(slices, event, view.from, view.to))));
  slices.addEventListener("dblclick", (event) => { const box = under(event); if (box) zoom(box.from, box.to); });
  slices.addEventListener("mousemove", (event) => { const box = under(event); by("hover").textContent = box ? `${box.text}: ${box.detail}` : ""; });
  slices.addEventListener("wheel", (event) => {
    if (event.shiftKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / 1000);
    else scale(Math.exp(event.deltaY / 400), positionAt(slices, event, view.from, view.to));
  }, {passive: false});

  /* ---- keys and controls */

  function save(): void {
    const url = URL.createObjectURL(new Blob([JSON.stringify({view, answers: seen}, null, 1)], {type: "application/json"}));
    el("a", {href: url, download: "ntrace-view.json"}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
  const line = (): string => {
    const at = seen.at as unknown as {here: number; instructions: {position: number; file?: string; line?: number; address: string}[]} | undefined;
    const row = at?.instructions.find((each) => each.position === at.here);
    return row?.file && row.line ? `${row.file}:${row.line}` : row?.address ?? "";
  };
  const text = by<HTMLInputElement>("text"), help = by<HTMLDialogElement>("help");
  const actions: Record<string, () => void> = {
    ArrowLeft: () => pan(-.25), ArrowRight: () => pan(.25), "+": () => scale(.5), "=": () => scale(.5), "-": () => scale(2), "0": () => zoom(0, total),
    Home: () => go(0), End: () => go(total - 1),
    ",": () => go(view.position - 1), ".": () => go(view.position + 1), "/": () => text.focus(), n: () => view.search && find(view.search, "next"),
    p: () => view.search && find(view.search, "previous"), l: () => line() && find(line(), "previous"), g: () => find("gap", "next"), G: () => find("gap", "previous"),
    m: () => { view.tab = "notes"; void refresh().then(() => document.getElementById("note")?.focus()); }, e: save, "?": () => help.showModal(),
  };
  TABS.forEach(([name], i) => { actions[String(i + 1)] = () => { view.tab = name; void refresh(); }; });
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.altKey || event.metaKey || help.open || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key === "Escape" && target === text) slices.focus();
      return;
    }
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });
  const press = (id: string, action: () => void): void => by(id).addEventListener("click", action);
  press("zoom-in", () => scale(.5));
  press("zoom-out", () => scale(2));
  press("left", () => pan(-.25));
  press("right", () => pan(.25));
  press("all", () => zoom(0, total));
  press("previous", () => find(text.value, "previous"));
  press("help-open", () => help.showModal());
  by("search").addEventListener("submit", (event) => { event.preventDefault(); find(text.value, "next"); slices.focus(); });
  by("skip").addEventListener("click", (event) => { event.preventDefault(); slices.focus(); });
  text.addEventListener("input", () => void tell(async () => {
    if (text.value.length < 2) return;
    const names = await ask<Names>({query: "names", text: text.value});
    fill(by("names"), ...names.names.map((index) => el("option", {value: names.functions[index]?.name ?? ""})));
  }));
  fill(by("keys"), ...KEYS.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)]));
  fill(by("tabs"), ...TABS.filter(([name]) => name !== "compare" || page.traces > 1).map(([name, title]) =>
    el("button", {id: `tab-${name}`, type: "button", role: "tab", "aria-controls": "panel", onclick: () => { view.tab = name; void refresh(); }}, title)));
  if (page.traces < 2) TABS.pop();
  const select = by<HTMLSelectElement>("trace");
  by("trace-label").hidden = page.traces < 2;
  for (let i = 0; i < page.traces; i++) {
    const about = await ask<About>({query: "about"}, i);
    select.append(el("option", {value: i}, `${i + 1}: ${about.title ?? "trace"}`));
  }
  view.trace = Math.min(view.trace, page.traces - 1);
  select.value = String(view.trace);
  select.addEventListener("change", () => {
    view.trace = Number(select.value);
    view.from = view.to = view.position = 0;
    known = {};
    seen = {};
    void tell(async () => { await progress(); await refresh(); });
  });
  text.value = view.search;
  new ResizeObserver(draw).observe(slices);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("hashchange", () => {
    Object.assign(view, parse(location.hash));
    view.trace = Math.min(view.trace, page.traces - 1);
    if (select.value === String(view.trace)) return void refresh();
    select.value = String(view.trace);
    known = {};
    seen = {};
    void tell(async () => { await progress(); await refresh(); });
  });
  await tell(async () => { await progress(); await refresh(); });
}
