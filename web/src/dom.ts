// Elements. Names of a trace are text, never markup: nothing here takes HTML.

export type Child = Node | string | null | undefined;
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Record<string, unknown> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name === "class") element.className = String(value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child != null));
  return element;
}

export function by<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element ${id}`);
  return element as T;
}

export const fill = (element: HTMLElement, ...children: Child[]): void =>
  element.replaceChildren(...children.filter((child): child is Node | string => child != null));

/** A table: `columns` are heads, a '>' before a head aligns to the right. */
export function table(caption: string, columns: string[], rows: Child[][], choose?: (row: number) => void, current = -1): HTMLElement {
  const right = columns.map((column) => column.startsWith(">"));
  const head = el("tr", {}, ...columns.map((column, i) => el("th", {scope: "col", class: right[i] ? "r" : ""}, column.replace(/^>/, ""))));
  const body = rows.map((cells, row) =>
    el("tr", {class: row === current ? "here" : "", tabindex: choose ? 0 : undefined, "aria-current": row === current ? "true" : undefined,
      onclick: choose && (() => choose(row)), onkeydown: choose && ((event: KeyboardEvent) => { if (event.key === "Enter") choose(row); })},
      ...cells.map((cell, i) => el("td", {class: right[i] ? "r" : ""}, cell))));
  return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
    el("table", {}, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...body)));
}

export const grouped = (value: number | string): string => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
export const percent = (part: number, whole: number): string => whole ? `${(100 * part / whole).toFixed(1)} %` : "";
