// Interrupts, exceptions and system calls of the range, by name, and the longest traps.
import {el, grouped, percent, table, type Child} from "./dom";
import type {Page} from "./panels";
import type {Fn, Slices, Syscalls, Tree} from "./types";
import {num} from "./types";

interface Handler { kind: string; src: string; name: string; calls: number; total: number }

const isTrap = (kind: string | undefined): kind is string => kind === "interrupt" || kind === "exception";
const nameOf = (fn: Fn | undefined): string => fn?.name ?? fn?.address ?? "?";

/** A handler that was interrupted by itself is counted in its outer entry alone. */
function handlers(answer: Tree): Handler[] {
  const found = new Map<string, Handler>(), open: {depth: number; key: string}[] = [];
  let src = "";
  for (const node of answer.tree) {
    while (open.length && open[open.length - 1].depth >= node.depth) open.pop();
    if (node.function === undefined) src = String(node.src);
    if (!isTrap(node.kind) || node.function === undefined) continue;
    const name = nameOf(answer.functions[node.function]), key = `${node.kind} ${src} ${name}`;
    const handler = found.get(key) ?? {kind: node.kind, src, name, calls: 0, total: 0};
    found.set(key, handler);
    handler.calls += num(node.calls);
    if (!open.some((each) => each.key === key)) handler.total += num(node.total);
    open.push({depth: node.depth, key});
  }
  return [...found.values()].sort((a, b) => b.total - a.total);
}

export async function traps(page: Page): Promise<Child[]> {
  const {from, to} = page.view, tree = await page.ask<Tree>({query: "tree", from, to, least: 1}), list = handlers(tree);
  const slices = await page.ask<Slices>({query: "slices", from, to, least: 1}), whole = num(tree.to) - num(tree.from);
  const longest = slices.slices.filter((slice) => isTrap(slice.kind)).sort((a, b) => num(b.end) - num(b.begin) - num(a.end) + num(a.begin)).slice(0, 200);
  const calls = await page.ask<Syscalls>({query: "syscalls", from, to});
  const least = num(tree.least), shortest = num(slices.least);
  return [
    tree.complete && slices.complete ? null : el("p", {class: "notice"}, "The trace is still being read or indexed: these are the counts so far."),
    table(`Interrupts and exceptions from ${grouped(tree.from)} to ${grouped(tree.to)} by the function that they entered${least > 1 ? `; call paths below ${grouped(least)} instructions are left out` : ""}`,
      ["kind", ">hart", ">times", ">instructions", ">share", "handler"],
      list.map((row) => [row.kind, row.src, grouped(row.calls), grouped(row.total), percent(row.total, whole), row.name]), (row) => page.find(list[row].name, "next")),
    calls.rows.length ? table(`System calls from ${grouped(calls.from)} to ${grouped(calls.to)} by name: their function and what it called`, [">times", ">instructions", ">share", "system call"],
      calls.rows.map((row) => [grouped(row.times), grouped(row.instructions), percent(num(row.instructions), whole), row.name]),
      (row) => page.find(calls.functions[calls.rows[row].function]?.address ?? calls.rows[row].name, "next")) : null,
    table(`The longest traps${shortest > 1 ? `; those below ${grouped(shortest)} instructions are left out` : ""}`, [">from", ">instructions", ">hart", "kind", "handler"],
      longest.map((slice) => [grouped(slice.begin), `${slice.cut_begin || slice.cut_end ? "\u2265 " : ""}${grouped(num(slice.end) - num(slice.begin))}`, String(slice.src), slice.kind ?? "", nameOf(slices.functions[slice.function])]),
      (row) => page.go(num(longest[row].begin))),
  ];
}
