// The views below the timeline. Each asks its question, and returns elements.
import {el, fill, grouped, percent, table, type Child} from "./dom";
import type {View} from "./state";
import {drawFlame} from "./timeline";
import type {At, Fn, Functions, Gaps, Lines, Messages, Question, Source, Tree} from "./types";
import {hartName, num} from "./types";

/** What the page offers its views. */
export interface Page {
  view: View;
  traces: number;
  ask<T>(question: Question, trace?: number): Promise<T>;
  go(position: number): void;
  zoom(from: number, to: number): void;
  find(text: string, direction: "next" | "previous"): void;
  change(): void;
}

const short = (file: string): string => file.split("/").slice(-2).join("/");
const place = (row: {file?: string; line?: number | string}): string => row.file ? `${row.file.replace(/^.*\//, "")}:${row.line}` : "";

/* ---- source and disassembly at the position, and the call stack */

async function sourceOf(page: Page, at: At): Promise<HTMLElement> {
  const here = at.instructions.find((row) => row.position === at.here);
  const file = here?.file, line = num(here?.line);
  if (!file || !line) return el("p", {}, "No debug information names the source here.");
  const answer = await page.ask<Source>({query: "source", file, first: Math.max(1, line - 15), count: 40});
  if (!answer.found) return el("p", {}, `The source file ${file} was not found; --source-path names folders. Line ${line}.`);
  const first = num(answer.first), seen = new Set(at.instructions.filter((row) => row.file === file).map((row) => num(row.line)));
  const {from, to, position} = page.view, lines = await page.ask<Lines>({query: "lines", file, from, to, position});
  const counts = new Map(lines.rows.map((row) => [num(row.line), num(row.instructions)]));
  const count = (number: number): string => counts.has(number) ? grouped(counts.get(number) ?? 0) : "";
  return table(`${short(file)}: instructions of each line from ${grouped(lines.from)} to ${grouped(lines.to)}; 0: not executed there; empty: no code`, [">line", ">instructions", "", "source"],
    answer.text.map((text, i) => [String(first + i), count(first + i), seen.has(first + i) ? "\u25cf" : "", text.replaceAll("\t", "    ")]),
    (row) => page.find(`${file}:${first + row}`, "previous"), line - first);
}

export async function code(page: Page): Promise<Child[]> {
  const at = await page.ask<At>({query: "at", position: page.view.position, before: 14, after: 26});
  const rows = at.instructions.map((row) => [grouped(row.position), row.address, row.bytes, row.text ?? "", row.in ?? "", place(row)]);
  const current = at.instructions.findIndex((row) => row.position === at.here);
  const stack = at.stack.map((frame) => [at.functions[frame.function]?.name ?? "?", frame.kind === "call" ? "" : frame.kind, frame.address, place(frame)]);
  const context = Object.entries(at.hart.context).map(([name, value]) => `${name} ${value}`).join(", ");
  const facts = `Position ${grouped(at.position)}, ${hartName(at.hart.src)}, instruction ${grouped(at.hart.number)} of the hart, message #${at.hart.message} at byte ${at.hart.offset}` +
    `${at.hart.time === undefined ? "" : `, time ${at.hart.time}`}${context ? `, ${context}` : ""}${at.hart.ended ? ", at its end" : ""}`;
  return [
    el("p", {id: "facts"}, facts),
    at.gap ? el("p", {class: "notice"}, `Before this instruction, execution is missing: ${at.gap.reason} (${at.gap.bytes} bytes, ${at.gap.messages} messages from byte ${at.gap.offset})`) : null,
    el("div", {class: "columns"},
      el("div", {}, table("Executed instructions", [">position", "address", "bytes", "instruction", "function", "line"], rows, (row) => page.go(num(at.instructions[row].position)), current)),
      el("div", {}, await sourceOf(page, at),
        table(`Call stack, ${at.depth} frames, the innermost first`, ["function", "", "address", "line"], stack, (row) => page.find(at.stack[row].address, "previous")))),
  ];
}

/* ---- functions, call tree */

export async function functions(page: Page): Promise<Child[]> {
  const answer = await page.ask<Functions>({query: "functions", from: page.view.from, to: page.view.to, limit: 200});
  const whole = num(answer.to) - num(answer.from);
  const rows = answer.rows.map((row) => {
    const fn = answer.functions[row.function];
    return [grouped(row.self), percent(num(row.self), whole), grouped(row.total), grouped(row.calls), fn.name ?? "?", place(fn) || (fn.image ?? "")];
  });
  return [table(`Functions from ${grouped(answer.from)} to ${grouped(answer.to)}; ${answer.left_out} more`, [">self", ">share", ">with calls", ">calls", "function", "place"], rows, (row) => {
    const fn: Fn = answer.functions[answer.rows[row].function];
    if (fn.address) page.find(fn.address, "next");
  }), await hotLines(page)];
}

async function hotLines(page: Page): Promise<HTMLElement> {
  const {from, to, position} = page.view, answer = await page.ask<Lines>({query: "lines", from, to, position}), whole = num(answer.to) - num(answer.from);
  return table(`Source lines from ${grouped(answer.from)} to ${grouped(answer.to)}; ${answer.left_out} more; ${grouped(answer.unknown)} instructions without a line`, [">instructions", ">share", "line"],
    answer.rows.map((row) => [grouped(row.instructions), percent(num(row.instructions), whole), place(row)]), (row) => page.find(`${answer.rows[row].file}:${answer.rows[row].line}`, "next"));
}

/** Callers and callees of each function of a tree, by name and address. */
function neighbours(answer: Tree, wanted: number): {callers: Map<number, number>; callees: Map<number, number>} {
  const callers = new Map<number, number>(), callees = new Map<number, number>(), path: number[] = [];
  const add = (map: Map<number, number>, key: number, value: number): void => { map.set(key, (map.get(key) ?? 0) + value); };
  for (const node of answer.tree) {
    path.length = node.depth;
    path[node.depth] = node.function ?? -1;
    const above = path[node.depth - 1] ?? -1;
    if (node.function === wanted && above >= 0) add(callers, above, num(node.total));
    if (above === wanted && node.function !== undefined) add(callees, node.function, num(node.total));
  }
  return {callers, callees};
}

export async function flame(page: Page): Promise<Child[]> {
  const answer = await page.ask<Tree>({query: "tree", from: page.view.from, to: page.view.to});
  const canvas = el("canvas", {id: "flame", tabindex: 0, role: "img", "aria-label": "Flame graph; the same is in the tables below"});
  const about = el("p", {"aria-live": "polite"}, `Call tree from ${grouped(answer.from)} to ${grouped(answer.to)}; a click shows what is below a function, Escape all. Functions below ${grouped(answer.least)} instructions are left out.`);
  const below = el("div", {class: "columns"});
  let root = 0, boxes = [] as ReturnType<typeof drawFlame>;
  const list = (caption: string, map: Map<number, number>): HTMLElement =>
    table(caption, [">instructions", "function"], [...map].sort((a, b) => b[1] - a[1]).slice(0, 50).map(([fn, total]) => [grouped(total), answer.functions[fn]?.name ?? "?"]));
  const choose = (index: number): void => {
    root = index;
    boxes = drawFlame(canvas, answer, root, page.view.search);
    const fn = answer.tree[root]?.function;
    if (fn === undefined) return fill(below);
    const {callers, callees} = neighbours(answer, fn), name = answer.functions[fn]?.name ?? "?";
    fill(below, list(`Callers of ${name}`, callers), list(`Called by ${name}`, callees));
  };
  const under = (event: MouseEvent) => {
    const area = canvas.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    return boxes.find((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height);
  };
  canvas.addEventListener("click", (event) => { const box = under(event); if (box) choose(box.from); });
  canvas.addEventListener("mousemove", (event) => { const box = under(event); if (box) about.textContent = `${box.text}: ${box.detail}`; });
  canvas.addEventListener("keydown", (event) => { if (event.key === "Escape") choose(0); });
  requestAnimationFrame(() => choose(0));
  return [about, canvas, below, table("Call tree", [">depth", ">with calls", ">self", ">calls", "function"],
    answer.tree.slice(0, 400).map((node) => [String(node.depth), grouped(node.total), grouped(node.self), grouped(node.calls),
      " ".repeat(node.depth) + (node.function === undefined ? hartName(node.src ?? 0) : answer.functions[node.function]?.name ?? "?")]))];
}

/* ---- messages, gaps, notes */

export async function messages(page: Page): Promise<Child[]> {
  const answer = await page.ask<Messages>({query: "messages", position: page.view.position, before: 12, after: 16});
  const rows = answer.messages.map((row) => [`#${row.number}`, String(row.offset), row.text ?? row.name, row.defect ?? "",
    row.bytes.map((byte) => byte.value + (byte.ends?.length ? `(${byte.ends.join(" ")})` : "")).join(" ")]);
  return [table("Messages; the marked one reports the instruction at the position. Behind each byte, the fields that end in it",
    ["message", ">byte", "fields", "defect", "bytes"], rows, undefined, answer.messages.findIndex((row) => row.here))];
}

export async function gaps(page: Page): Promise<Child[]> {
  const answer = await page.ask<Gaps>({query: "gaps"});
  if (!answer.gaps.length) return [el("p", {}, answer.complete ? "The trace has no gaps." : "No gaps so far; the trace is still being read.")];
  const rows = answer.gaps.map((gap) => [grouped(gap.position), String(gap.src), gap.reason, `${gap.bytes}`, `${gap.messages}`, `${gap.offset}`, gap.from_address ?? "", gap.to_address ?? "",
    gap.from_time !== undefined && gap.to_time !== undefined ? String(BigInt(gap.to_time) - BigInt(gap.from_time)) : ""]);
  return [table(`Execution that is missing; ${answer.left_out} more`, [">position", ">hart", "reason", ">bytes", ">messages", ">byte", "from", "to", ">ticks"], rows, (row) => page.go(num(answer.gaps[row].position)))];
}

export async function notes(page: Page): Promise<Child[]> {
  const input = el("input", {id: "note", maxlength: 500, "aria-label": "Note at this position"});
  const add = el("form", {onsubmit: (event: Event) => {
    event.preventDefault();
    if (input.value) page.view.notes.push({position: page.view.position, text: input.value});
    page.change();
  }}, input, " ", el("button", {}, `Note at ${grouped(page.view.position)}`));
  return [el("p", {}, "Notes are in the address of this page alone: who gets the address gets them."), add,
    table("Notes", [">position", "note"], page.view.notes.map((note) => [grouped(note.position), note.text]), (row) => page.go(page.view.notes[row].position))];
}
