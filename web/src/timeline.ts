// The drawings: the overview of the whole trace, the timeline of the range, the flame graph.
import type {PathNode} from "./difference";
import type {Fn, Gap, Overview, Slices, Tree} from "./types";
import {hartName, num} from "./types";

export interface Box { x: number; y: number; width: number; height: number; text: string; detail: string; from: number; to: number }

const ROW = 18;

/** A color that depends on the name alone. */
export function color(name: string, alpha = 1): string {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return `hsla(${(hash >>> 8) % 360}, ${45 + (hash >>> 20) % 20}%, ${dark ? 34 : 74}%, ${alpha})`;
}

const style = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name);

export function prepare(canvas: HTMLCanvasElement, height: number): CanvasRenderingContext2D {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px ui-monospace, Menlo, Consolas, monospace";
  context.textBaseline = "middle";
  return context;
}

const nameOf = (functions: Fn[], index: number | null | undefined): string => index == null ? "" : functions[index]?.name ?? "?";

function drawBox(context: CanvasRenderingContext2D, box: Box, chosen: boolean, fill = color(box.text)): void {
  context.fillStyle = fill;
  context.fillRect(box.x, box.y, Math.max(box.width - (box.width > 3 ? 1 : 0), .5), box.height - 1);
  if (chosen) {
    context.strokeStyle = style("--accent");
    context.lineWidth = 2;
    context.strokeRect(box.x, box.y, box.width - 1, box.height - 2);
  }
  if (box.width < 24) return;
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width - 3, box.height);
  context.clip();
  context.fillStyle = style("--ink");
  context.fillText(box.text, Math.max(box.x, 0) + 4, box.y + box.height / 2);
  context.restore();
}

/** Gaps are seen at every zoom: a line, however short they are, with the reason where there is room. */
function drawGaps(context: CanvasRenderingContext2D, gaps: Gap[], x: (position: number) => number, height: number): void {
  context.fillStyle = style("--bad");
  let free = -Infinity;
  for (const gap of gaps) {
    const at = x(num(gap.position));
    context.fillRect(at - 1, 0, 2, height);
    if (at < free || height < 60) continue;
    const text = `gap: ${gap.reason}, ${gap.bytes} bytes`;
    context.fillText(text, at + 4, height - 8);
    free = at + context.measureText(text).width + 12;
  }
}

function drawMark(context: CanvasRenderingContext2D, at: number, height: number): void {
  context.fillStyle = style("--accent");
  context.fillRect(at - 1, 0, 2, height);
}

export function drawOverview(canvas: HTMLCanvasElement, answer: Overview, gaps: Gap[], total: number, view: {from: number; to: number; position: number}): void {
  const lane = Math.max(10, Math.min(30, 90 / Math.max(1, answer.harts.length))), height = lane * answer.harts.length + 6;
  const context = prepare(canvas, height), width = canvas.clientWidth;
  const x = (position: number): number => position / Math.max(1, total) * width;
  answer.harts.forEach((hart, row) => {
    hart.instructions.forEach((instructions, i) => {
      const from = num(answer.bounds[i]), to = num(answer.bounds[i + 1]);
      const share = num(instructions) / Math.max(1, to - from);
      if (!share) return;
      context.fillStyle = color(nameOf(answer.functions, hart.function[i]));
      context.fillRect(x(from), row * lane + (lane - 2) * (1 - share), Math.max(x(to) - x(from), .6), (lane - 2) * share);
      if (num(hart.interrupts[i])) {
        context.fillStyle = style("--accent");
        context.fillRect(x(from), row * lane, Math.max(x(to) - x(from), 1), 2);
      }
    });
  });
  drawGaps(context, gaps, x, height);
  context.fillStyle = style("--shade");
  context.fillRect(0, 0, x(view.from), height);
  context.fillRect(x(view.to), 0, width - x(view.to), height);
  context.strokeStyle = style("--accent");
  context.strokeRect(x(view.from) + .5, .5, Math.max(x(view.to) - x(view.from) - 1, 2), height - 1);
  drawMark(context, x(view.position), height);
}

/** Draws the call stacks of each hart, and returns the boxes for the pointer. */
export function drawTimeline(canvas: HTMLCanvasElement, answer: Slices, gaps: Gap[], view: {from: number; to: number; position: number}): Box[] {
  const harts = [...new Set([...answer.slices, ...answer.contexts].map((slice) => num(slice.src)))].sort((a, b) => a - b);
  const depth = new Map<number, number>(harts.map((src) => [src, 0]));
  for (const slice of answer.slices) depth.set(num(slice.src), Math.max(depth.get(num(slice.src))!, slice.depth + 1));
  const top = new Map<number, number>();
  let height = 4;
  for (const src of harts) {
    top.set(src, height);
    height += (Math.min(depth.get(src)!, 60) + 1) * ROW + 14;
  }
  const context = prepare(canvas, Math.max(height, 80)), width = canvas.clientWidth;
  const x = (position: number): number => (position - view.from) / Math.max(1, view.to - view.from) * width;
  const boxes: Box[] = [];
  const add = (from: number, to: number, y: number, text: string, detail: string): void => {
    const left = Math.max(x(from), -2), right = Math.min(x(to), width + 2);
    if (right > 0 && left < width) boxes.push({x: left, y, width: right - left, height: ROW, text, detail, from, to});
  };
  for (const run of answer.contexts) {
    const words = [run.context.prv, run.context.scontext && `scontext ${run.context.scontext}`, run.context.hcontext && `hcontext ${run.context.hcontext}`];
    add(num(run.begin), num(run.end), top.get(num(run.src))!, words.filter(Boolean).join(" ") || hartName(run.src), hartName(run.src));
  }
  for (const slice of answer.slices) {
    if (slice.depth >= 60) continue;
    const name = nameOf(answer.functions, slice.function), kind = slice.kind && slice.kind !== "root" ? `${slice.kind}: ` : "";
    const length = num(slice.end) - num(slice.begin);
    add(num(slice.begin), num(slice.end), top.get(num(slice.src))! + (slice.depth + 1) * ROW, kind + name,
      `${slice.cut_begin || slice.cut_end ? "at least " : ""}${length} instructions from ${slice.begin}, ${hartName(slice.src)}`);
  }
  for (const box of boxes) drawBox(context, box, false);
  drawGaps(context, gaps, x, Math.max(height, 80));
  if (view.position >= view.from && view.position <= view.to) drawMark(context, x(view.position), Math.max(height, 80));
  return boxes;
}

/** The flame graph of a tree, below the function `root` if one is chosen (index in the tree). */
export function drawFlame(canvas: HTMLCanvasElement, answer: Tree, root: number, wanted: string): Box[] {
  const width = canvas.clientWidth, boxes: Box[] = [];
  const base = answer.tree[root];
  if (!base) {
    prepare(canvas, 40);
    return boxes;
  }
  const next: number[] = [0];
  let deepest = 0;
  for (let i = root; i < answer.tree.length; i++) {
    const node = answer.tree[i], row = node.depth - base.depth;
    if (i > root && row <= 0) break;
    const left = next[row] ?? 0, size = num(node.total) / Math.max(1, num(base.total)) * width;
    next[row + 1] = left;
    next[row] = left + size;
    deepest = Math.max(deepest, row);
    const name = node.function === undefined ? hartName(node.src ?? 0) : nameOf(answer.functions, node.function);
    boxes.push({x: left, y: row * ROW, width: size, height: ROW, text: name, from: i, to: i,
      detail: `${node.total} instructions, ${node.self} in itself, calls: ${node.calls}`});
  }
  const context = prepare(canvas, (deepest + 1) * ROW + 2);
  for (const box of boxes) if (box.width >= .4) drawBox(context, box, wanted !== "" && box.text.toLowerCase().includes(wanted.toLowerCase()));
  return boxes;
}

/** The flame graph of two traces. A box is as wide as the larger count, so that paths of both traces are seen. */
export function drawDifference(canvas: HTMLCanvasElement, root: PathNode): (Box & {node: PathNode})[] {
  const sizes = new Map<PathNode, number>(), boxes: (Box & {node: PathNode; fill: string})[] = [];
  const known = ({value, most}: PathNode["before"]): number => most ? 0 : value;
  const measure = (node: PathNode): number => {
    const size = Math.max(known(node.before), known(node.after), node.below.reduce((sum, each) => sum + measure(each), 0));
    sizes.set(node, size);
    return size;
  };
  const scale = canvas.clientWidth / Math.max(1, measure(root)), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const place = (node: PathNode, x: number, row: number): number => {
    const width = sizes.get(node)! * scale, {low, high, text} = node.change;
    if (width < .4) return row;
    const strength = Math.min(1, Math.max(low, -high, 0) / Math.max(1, sizes.get(node)!) * 3), hue = low > 0 ? 28 : 212;
    boxes.push({x, y: row * ROW, width, height: ROW, text: node.name, from: 0, to: 0, node, fill: `hsl(${hue}, ${Math.round(85 * strength)}%, ${dark ? 32 : 82 - 12 * strength}%)`,
      detail: `${node.before.most ? "at most " : ""}${node.before.value} instructions in the first trace, ${node.after.most ? "at most " : ""}${node.after.value} in the second; difference ${text}`});
    let deepest = row;
    for (const each of node.below) {
      deepest = Math.max(deepest, place(each, x, row + 1));
      x += sizes.get(each)! * scale;
    }
    return deepest;
  };
  const context = prepare(canvas, (place(root, 0, 0) + 1) * ROW + 2);
  for (const box of boxes) drawBox(context, box, false, box.fill);
  return boxes;
}
