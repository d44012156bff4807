// Two traces side by side: functions and call paths that became dearer or cheaper, by name. What an answer leaves out because it is too small is
// not taken for zero: it is known to be at most a number.
import {el, grouped, table, type Child} from "./dom";
import type {Page} from "./panels";
import {drawDifference} from "./timeline";
import type {Answer, Functions, Tree} from "./types";
import {num} from "./types";

/** A number of instructions: exact, or at most that many. */
interface Count { value: number; most: boolean }
/** The difference of two counts lies between `low` and `high`. */
interface Change { low: number; high: number; text: string }
export interface PathNode { name: string; before: Count; after: Count; change: Change; below: PathNode[] }

const ROWS = 200, LIMIT = 2000;
const show = ({value, most}: Count): string => (most && value ? "\u2264 " : "") + grouped(value);

/** Its text is "?" where not even its sign is known. */
function difference(before: Count, after: Count): Change {
  const low = (after.most ? 0 : after.value) - before.value, high = after.value - (before.most ? 0 : before.value);
  const sign = (value: number): string => `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${grouped(Math.abs(value))}`;
  if (before.most ? low > 0 : after.most && high < 0) return {low, high, text: `at least ${sign(low > 0 ? low : high)}`};
  return {low, high, text: low === high ? sign(low) : low > 0 || high < 0 ? `${sign(low)} to ${sign(high)}` : "?"};
}
const certain = ({low, high}: {low: number; high: number}): number => low > 0 ? low : high < 0 ? -high : 0;

/** The answer's own words about what it lacks: a limit, or a part of the trace that is not indexed yet. */
const partial = (answers: Answer[]): HTMLElement | null => answers.every((answer) => answer.complete) ? null
  : el("p", {class: "notice"}, "A trace is still being read or indexed: these are the counts so far, and no comparison of the whole.");

/* ---- functions */

interface Own { counts: Map<string, number>; least: number }
/** Sums by name. Functions that the answer left out have at most as many instructions as its last one. */
function own(answer: Functions): Own {
  const counts = new Map<string, number>();
  for (const row of answer.rows) {
    const name = answer.functions[row.function]?.name ?? answer.functions[row.function]?.address ?? "?";
    counts.set(name, (counts.get(name) ?? 0) + num(row.self));
  }
  return {counts, least: num(answer.left_out) ? num(answer.rows.at(-1)?.self) : 0};
}

function functionTable(one: Functions, other: Functions): HTMLElement {
  const before = own(one), after = own(other);
  const count = ({counts, least}: Own, name: string): Count => counts.has(name) ? {value: counts.get(name)!, most: false} : {value: least, most: least > 0};
  const rows = [...new Set([...before.counts.keys(), ...after.counts.keys()])]
    .map((name) => ({name, before: count(before, name), after: count(after, name)})).map((row) => ({...row, ...difference(row.before, row.after)}))
    .filter((row) => row.low !== 0 || row.high !== 0).sort((a, b) => certain(b) - certain(a) || (a.name < b.name ? -1 : 1));
  const share = (row: (typeof rows)[number]): string => row.low !== row.high ? "" : row.before.value ? `${row.low > 0 ? "+" : "\u2212"}${(100 * Math.abs(row.low) / row.before.value).toFixed(1)} %` : "new";
  return table(`Functions by the difference of their own instructions, the first trace against the second${rows.length > ROWS ? `; ${rows.length - ROWS} more` : ""}`,
    [">first", ">second", ">difference", ">share", "function"],
    rows.slice(0, ROWS).map((row) => [show(row.before), show(row.after), row.text, share(row), row.name]));
}

/* ---- call paths */

interface Path { name: string; total: number; below: Map<string, Path> }
/** Harts and functions by name; a name that comes twice below a caller is one path. */
function paths(answer: Tree): Path {
  const all: Path = {name: "", total: 0, below: new Map()}, stack: Path[] = [all];
  for (const node of answer.tree) {
    const fn = node.function === undefined ? undefined : answer.functions[node.function];
    const name = node.function === undefined ? `hart ${node.src}` : `${node.kind === "call" || node.kind === "root" || !node.kind ? "" : `${node.kind}: `}${fn?.name ?? fn?.address ?? "?"}`;
    const above = stack[node.depth] ?? all, found = above.below.get(name) ?? {name, total: 0, below: new Map<string, Path>()};
    above.below.set(name, found);
    found.total += num(node.total);
    stack.length = node.depth + 1;
    stack.push(found);
  }
  all.total = [...all.below.values()].reduce((sum, path) => sum + path.total, 0);
  return all;
}

/** Both trees as one. A path that one of them lacks has fewer instructions there than the smallest that it shows. */
function joined(name: string, one: Path | undefined, other: Path | undefined, least: [number, number]): PathNode {
  const names = new Set([...one?.below.keys() ?? [], ...other?.below.keys() ?? []]);
  const count = (path: Path | undefined, most: number): Count => path ? {value: path.total, most: false} : {value: Math.max(0, most - 1), most: most > 1};
  const below = [...names].map((each) => joined(each, one?.below.get(each), other?.below.get(each), least));
  const before = count(one, least[0]), after = count(other, least[1]);
  return {name, before, after, change: difference(before, after), below};
}

export async function compare(page: Page): Promise<Child[]> {
  const both = <T>(question: {query: string} & Record<string, unknown>): Promise<[T, T]> => Promise.all([page.ask<T>(question, 0), page.ask<T>(question, 1)]);
  const [one, other] = await both<Functions>({query: "functions", limit: LIMIT}), [before, after] = await both<Tree>({query: "tree"});
  const root = joined("both traces", paths(before), paths(after), [num(before.least), num(after.least)]);
  const canvas = el("canvas", {id: "difference", tabindex: 0, role: "img", "aria-label": "Flame graph of the difference; the same is in the table below"});
  const about = el("p", {"aria-live": "polite"}, "Call paths of both traces: orange has more instructions in the second trace, blue fewer, grey may be equal. A click shows what is below a function, Escape all.");
  let boxes: ReturnType<typeof drawDifference> = [];
  const draw = (node: PathNode): void => { boxes = drawDifference(canvas, node); };
  const under = (event: MouseEvent) => boxes.find((box) => event.offsetX >= box.x && event.offsetX < box.x + box.width && event.offsetY >= box.y && event.offsetY < box.y + box.height);
  canvas.addEventListener("click", (event) => { const box = under(event); if (box) draw(box.node); });
  canvas.addEventListener("mousemove", (event) => { const box = under(event); if (box) about.textContent = `${box.text}: ${box.detail}`; });
  canvas.addEventListener("keydown", (event) => { if (event.key === "Escape") draw(root); });
  requestAnimationFrame(() => draw(root));
  const rows: {depth: number; node: PathNode}[] = [];
  const list = (node: PathNode, depth: number): void => { rows.push({depth, node}); for (const each of node.below) list(each, depth + 1); };
  list(root, 0);
  const changed = rows.filter(({node}) => certain(node.change) > 0);
  return [partial([one, other, before, after]), about, canvas, functionTable(one, other),
    table(`Call paths with a difference${changed.length > 2 * ROWS ? `; ${changed.length - 2 * ROWS} more` : ""}`, [">first", ">second", ">difference", "call path"],
      changed.slice(0, 2 * ROWS).map(({depth, node}) => [show(node.before), show(node.after), node.change.text, "\u00a0".repeat(depth) + node.name]))];
}
