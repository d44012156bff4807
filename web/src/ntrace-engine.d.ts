/** What emscripten makes of web/engine/engine.c. */
declare module "ntrace-engine" {
  interface FileSystem {
    ErrnoError: new (errno: number) => Error;
    chdir(path: string): void;
    mkdir(path: string): void;
    mount(type: unknown, options: {blobs: {name: string; data: Blob}[]}, path: string): void;
    analyzePath(path: string): {exists: boolean};
    writeFile(path: string, data: Uint8Array): void;
  }
  export interface EngineModule {
    HEAPU8: Uint8Array;
    FS: FileSystem;
    WORKERFS: {
      node_ops: {readlink(): string};
      stream_ops: {mmap?(stream: {node: {contents: Blob}}, address: number, length: number, position: number): {ptr: number; allocated: boolean}};
    };
    _malloc(size: number): number;
    _emscripten_builtin_memalign(alignment: number, size: number): number;
    _free(at: number): void;
    _engine_open(text: number, size: number): number;
    _engine_close(number: number): void;
    _engine_work(number: number, milliseconds: number): number;
    _engine_ask(number: number, question: number, size: number): number;
    _engine_answer_size(): number;
    _engine_status_text(status: number): number;
  }
  export default function make(options: {
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void): object;
    print(line: string): void;
    printErr(line: string): void;
  }): Promise<EngineModule>;
}
