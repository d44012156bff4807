// The thread of the engine: opens traces, answers the page, and makes the index while nothing is asked.
import {Engine, type Trace, type TraceFile} from "./engine";
import {traces} from "./files";
import type {Question} from "./types";

export type Request = {id: number} & ({open: TraceFile[]; words: string[]} | {trace: number; question: Question});
export type Reply = {id: number} & ({result: unknown} | {error: string});

const open: Trace[] = [], WORK_MILLISECONDS = 20;
let waiting = false;

async function compiled(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL("engine.wasm", import.meta.url));
  if (!response.ok) throw new Error(`engine.wasm: the web space says ${response.status}`);
  return await WebAssembly.compile(await response.arrayBuffer());
}
const loaded = compiled().then((wasm) => Engine.load(wasm));
loaded.catch(() => {}); // the first request reports it

/** Between two steps, requests are answered. */
function work(): void {
  waiting = false;
  let more = false;
  for (const trace of open) {
    try {
      more = !trace.work(WORK_MILLISECONDS) || more;
    } catch { // the next answer has the reason
    }
  }
  if (more) later();
}
function later(): void {
  if (waiting) return;
  waiting = true;
  setTimeout(work);
}

async function handle(request: Request): Promise<unknown> {
  const engine = await loaded;
  if ("question" in request) return open[request.trace].ask(request.question);
  for (const {files, words} of await traces(request.open, request.words)) open.push(await engine.open(files, words));
  later();
  return {traces: open.length, messages: engine.messages};
}

addEventListener("message", (event: MessageEvent<Request>) => {
  const {id} = event.data;
  handle(event.data).then((result) => postMessage({id, result} satisfies Reply),
    (problem: unknown) => postMessage({id, error: problem instanceof Error ? problem.message : String(problem)} satisfies Reply));
});
