// The page without a server: files that are dropped or chosen are opened by a worker of the browser. Nothing leaves the machine.
import {by} from "./dom";
import type {TraceFile} from "./engine";
import {start} from "./main";
import type {Transport} from "./transport";
import type {Answer, Question} from "./types";
import type {Reply} from "./worker";

class WorkerTransport implements Transport {
  private readonly worker = new Worker(new URL("worker.js", document.baseURI), {type: "module"});
  private readonly waiting = new Map<number, {done: (result: never) => void; fail: (problem: Error) => void}>();
  private last = 0;
  private count = 0;

  constructor() {
    this.worker.addEventListener("message", ({data}: MessageEvent<Reply>) => {
      const request = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if ("error" in data) request?.fail(new Error(data.error));
      else request?.done(data.result as never);
    });
    this.worker.addEventListener("error", (event) => {
      for (const {fail} of this.waiting.values()) fail(new Error(event.message || "the worker cannot be started"));
      this.waiting.clear();
    });
  }
  private send<T>(request: object): Promise<T> {
    return new Promise((done, fail) => {
      this.waiting.set(++this.last, {done, fail});
      this.worker.postMessage({id: this.last, ...request});
    });
  }
  async open(files: TraceFile[], words: string[]): Promise<string[]> {
    const {traces, messages} = await this.send<{traces: number; messages: string[]}>({open: files, words});
    this.count = traces;
    return messages;
  }
  async traces(): Promise<number> { return this.count; }
  ask(trace: number, question: Question): Promise<Answer> { return this.send({trace, question}); }
}

/* ---- what the user gives */

const fileOf = (entry: FileSystemFileEntry): Promise<File> => new Promise((done, fail) => entry.file(done, fail));
const entriesOf = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> => new Promise((done, fail) => reader.readEntries(done, fail));
async function below(entry: FileSystemEntry, path = entry.name): Promise<TraceFile[]> {
  if (entry.isFile) return [{path, data: await fileOf(entry as FileSystemFileEntry)}];
  const reader = (entry as FileSystemDirectoryEntry).createReader(), files: TraceFile[] = [];
  for (let batch = await entriesOf(reader); batch.length; batch = await entriesOf(reader))
    for (const each of batch) files.push(...await below(each, `${path}/${each.name}`));
  return files;
}
const chosen = (input: HTMLInputElement): TraceFile[] => [...input.files ?? []].map((file) => ({path: file.webkitRelativePath || file.name, data: file}));

const say = (text: string): void => { by("opening").textContent = text; };
let transport: WorkerTransport | null = null;

async function open(files: Promise<TraceFile[]> | TraceFile[]): Promise<void> {
  if (transport) return say("A trace is open already; reload the page to open another one.");
  try {
    say("Opening");
    transport = new WorkerTransport();
    const messages = await transport.open(await files, by<HTMLInputElement>("words").value.split(/\s+/).filter(Boolean));
    document.body.classList.remove("empty");
    say(messages.join("; "));
    await start(transport);
  } catch (problem) {
    transport = null;
    say(problem instanceof Error ? problem.message : String(problem));
  }
}
async function fetched(url: string): Promise<TraceFile[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the web space says ${response.status}`);
  return [{path: new URL(url, document.baseURI).pathname.replace(/^.*\//, ""), data: await response.blob()}];
}

document.body.classList.add("empty");
by("lead").textContent = "No trace is open";
for (const id of ["files", "folder"]) by<HTMLInputElement>(id).addEventListener("change", (event) => void open(chosen(event.target as HTMLInputElement)));
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const entries = [...event.dataTransfer?.items ?? []].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  void open(Promise.all(entries.map((entry) => below(entry))).then((lists) => lists.flat()));
});
const given = new URLSearchParams(location.search).getAll("trace");
if (given.length) void open(Promise.all(given.map(fetched)).then((lists) => lists.flat()));
