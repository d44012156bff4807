// What is seen: the trace, the range, the position, the tab and the notes. All of it is in the address of the page.

export interface Note { position: number; text: string }
export interface View { trace: number; from: number; to: number; position: number; tab: string; search: string; notes: Note[] }

export function parse(hash: string): Partial<View> {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const view: Partial<View> = {};
  const number = (name: string): number | undefined => /^\d{1,15}$/.test(words.get(name) ?? "") ? Number(words.get(name)) : undefined;
  const set = <K extends keyof View>(key: K, value: View[K] | undefined): void => { if (value !== undefined) view[key] = value; };
  set("trace", number("trace"));
  set("from", number("from"));
  set("to", number("to"));
  set("position", number("at"));
  set("tab", words.get("tab") ?? undefined);
  set("search", words.get("find") ?? undefined);
  view.notes = words.getAll("note").flatMap((note) => {
    const found = /^(\d{1,15}) (.*)$/s.exec(note);
    return found ? [{position: Number(found[1]), text: found[2].slice(0, 500)}] : [];
  }).slice(0, 100);
  return view;
}

export function print(view: View): string {
  const words = new URLSearchParams({from: String(view.from), to: String(view.to), at: String(view.position), tab: view.tab});
  if (view.trace) words.set("trace", String(view.trace));
  if (view.search) words.set("find", view.search);
  for (const note of view.notes) words.append("note", `${note.position} ${note.text}`);
  return `#${words}`;
}
