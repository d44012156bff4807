/** Explore executions of RISC-V N-Trace: an engine that opens traces from files and answers questions about them.
 *
 *     const engine = await load();
 *     const [{files, words}] = await traces([{path: "hello.ntrace.zip", data: blob}]);
 *     const trace = await engine.open(files, words);
 *     while (!trace.work()) ;                                   // makes the index, in steps of 20 ms
 *     trace.ask({query: "functions", limit: 10});
 *
 * The engine blocks its thread: in a page, use it in a worker. docs/explore.md of ntrace describes questions and answers. */

/** A file; `path` may name folders, as "hello.ntrace/capture.json". A worker of a browser reads the parts of a Blob that it needs. */
export interface TraceFile { path: string; data: Blob | Uint8Array }

/** What Engine.open takes. */
export interface Opening { files: TraceFile[]; words: string[] }

export interface Question { query: string; [argument: string]: unknown }

/** How much of the trace is known. Numbers above 2^53 - 1 are texts of their digits. */
export interface Progress {
  bytes: number | string; size?: number | string; known: number | string; indexed: number | string; read: boolean; complete: boolean;
}

/** An answer: these members, and those of its question. */
export interface Answer {
  schema: string; query: string; complete: boolean; interrupted?: boolean; progress: Progress; error?: string;
  functions: {name: string | null; address?: string; file?: string; line?: number | string; image?: string}[];
  [member: string]: unknown;
}

/** Finds the traces in files that a user gave: bundles (folders with a capture.json), .zip, .tar and .tar.gz files of bundles, or one stream
 *  with its ELF files. `options`: words of `ntrace explore`, such as "--src-bits=2". Throws an Error that says what is missing. */
export function traces(files: TraceFile[], options?: string[]): Promise<Opening[]>;

/** Loads the engine, by default from engine.wasm beside this module. */
export function load(wasm?: WebAssembly.Module | BufferSource): Promise<Engine>;

/** At most eight traces are open. */
export class Engine {
  private constructor();
  static load(wasm: WebAssembly.Module): Promise<Engine>;
  /** Opens a trace. `words`: the trace and the options of `ntrace explore`; paths are those of `files`. Throws an Error with the reason. */
  open(files: TraceFile[], words: string[]): Promise<Trace>;
  /** Doubts and hints about the trace that was opened last, a sentence each. */
  readonly messages: string[];
}

export class Trace {
  private constructor();
  /** Makes more of the index, for about so many milliseconds (20). Returns whether it is complete. */
  work(milliseconds?: number): boolean;
  /** Answers a question. A question that cannot be answered has an answer with `error`. Throws an Error when there is no memory. */
  ask(question: Question): Answer;
  /** The same as text: the bytes of `ntrace explore --ask`. */
  askText(question: string): string;
  close(): void;
}
