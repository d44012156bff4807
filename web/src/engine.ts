// The explorer as WebAssembly: opens traces from files and answers questions. It blocks its thread: pages put it into a worker.
import make, {type EngineModule} from "ntrace-engine";
import type {Answer, Question} from "./types";

/** A file of a trace. `path` may name folders; "hello.ntrace/capture.json". */
export interface TraceFile { path: string; data: Blob | Uint8Array }

const EINVAL = 28, ENOMEM = 48, PAGE = 1 << 16; // emscripten's
declare class FileReaderSync { readAsArrayBuffer(data: Blob): ArrayBuffer }
const MEMORY = "out of memory: the engine in a browser has at most 4 GiB; `ntrace open` has no such limit";

/** Adds to the file system of Blobs what the engine needs of it: realpath expects EINVAL from readlink of what is no link, and programs are
 *  mapped into memory, which is reading them here. */
function complete(module: EngineModule): void {
  const {FS, WORKERFS} = module;
  WORKERFS.node_ops.readlink = () => { throw new FS.ErrnoError(EINVAL); };
  WORKERFS.stream_ops.mmap = ({node}, _, length, position) => {
    const room = Math.ceil(length / PAGE) * PAGE, ptr = module._emscripten_builtin_memalign(PAGE, room) >>> 0;
    if (!ptr) throw new FS.ErrnoError(ENOMEM);
    const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(node.contents.slice(position, position + length)));
    module.HEAPU8.fill(0, ptr + bytes.length, ptr + room);
    module.HEAPU8.set(bytes, ptr);
    return {ptr, allocated: true};
  };
}

/** A trace that is open. */
export class Trace {
  constructor(private readonly engine: Engine, private readonly number: number) {}
  /** Makes more of the index, for about so many milliseconds. Returns whether it is complete. */
  work(milliseconds = 20): boolean { return this.engine.work(this.number, milliseconds); }
  /** The answer to a question: docs/explore.md. An answer with `error` is an answer. */
  ask(question: Question): Answer { return JSON.parse(this.askText(JSON.stringify(question))); }
  /** The same as text, byte for byte that of `ntrace explore --ask`. */
  askText(question: string): string { return this.engine.ask(this.number, question); }
  close(): void { this.engine.close(this.number); }
}

export class Engine {
  private opened = 0;
  private readonly roots = new Map<number, string>(); // the folder that relative paths of a trace begin at
  private constructor(private readonly module: EngineModule, private readonly said: string[]) {}

  static async load(wasm: WebAssembly.Module): Promise<Engine> {
    const said: string[] = [];
    const module = await make({
      instantiateWasm(imports, done) {
        void WebAssembly.instantiate(wasm, imports).then(done);
        return {};
      },
      print: (line) => said.push(line), printErr: (line) => said.push(line),
    });
    complete(module);
    return new Engine(module, said);
  }

  /** Opens a trace from files. `words` are operands and options of `ntrace explore`; paths are those of the files.
   *  Throws an Error with the reason. */
  async open(files: TraceFile[], words: string[]): Promise<Trace> {
    const root = `/${++this.opened}`;
    await this.mount(root, files);
    this.said.length = 0;
    this.module.FS.chdir(root);
    const number = this.call((text, size) => this.module._engine_open(text, size), [...words, `--source-path=${root}`].map((word) => `${word}\0`).join(""));
    if (number < 0) throw new Error(this.said.map((line) => line.replace(/^ntrace explore: /, "")).join("; ") || "the trace cannot be opened");
    this.roots.set(number, root);
    return new Trace(this, number);
  }
  /** What was said about the traces that were opened: doubts and hints, a sentence each. */
  get messages(): string[] { return [...this.said]; }

  work(number: number, milliseconds: number): boolean {
    this.enter(number);
    const status = this.guarded(() => this.module._engine_work(number, milliseconds));
    if (status < 0) throw new Error(this.text(this.module._engine_status_text(status)));
    return status === 1;
  }
  ask(number: number, question: string): string {
    this.enter(number);
    const answer = this.call((text, size) => this.module._engine_ask(number, text, size), question);
    if (!answer) throw new Error(MEMORY);
    return new TextDecoder().decode(this.module.HEAPU8.slice(answer, answer + this.module._engine_answer_size()));
  }
  close(number: number): void {
    this.enter(number);
    this.module._engine_close(number);
    this.roots.delete(number);
  }
  private enter(number: number): void {
    const root = this.roots.get(number);
    if (root === undefined) throw new Error("the trace is closed");
    this.module.FS.chdir(root);
  }

  /** A worker reads parts of files when they are needed; elsewhere the files are copied. */
  private async mount(root: string, files: TraceFile[]): Promise<void> {
    const {FS, WORKERFS} = this.module, lazy = "FileReaderSync" in globalThis;
    const blobs = lazy ? files.map(({path, data}) => ({name: path, data: data instanceof Blob ? data : new Blob([data as BlobPart])})) : [];
    FS.mkdir(root);
    if (lazy) FS.mount(WORKERFS, {blobs}, root);
    for (const {path, data} of lazy ? [] : files) {
      const parts = path.split("/");
      parts.slice(0, -1).forEach((_, i) => {
        const folder = `${root}/${parts.slice(0, i + 1).join("/")}`;
        if (!FS.analyzePath(folder).exists) FS.mkdir(folder);
      });
      FS.writeFile(`${root}/${path}`, data instanceof Blob ? new Uint8Array(await data.arrayBuffer()) : data);
    }
  }
  private call(run: (text: number, size: number) => number, text: string): number {
    const bytes = new TextEncoder().encode(text), at = this.module._malloc(bytes.length + 1) >>> 0;
    if (!at) throw new Error(MEMORY);
    this.module.HEAPU8.set(bytes, at);
    try {
      return this.guarded(() => run(at, bytes.length));
    } finally {
      this.module._free(at);
    }
  }
  /** A library that has no memory left ends by a trap. */
  private guarded(run: () => number): number {
    try {
      return run();
    } catch (problem) {
      throw problem instanceof WebAssembly.RuntimeError ? new Error(MEMORY, {cause: problem}) : problem;
    }
  }
  private text(at: number): string {
    const bytes = this.module.HEAPU8, from = at >>> 0;
    return new TextDecoder().decode(bytes.slice(from, bytes.indexOf(0, from)));
  }
}
