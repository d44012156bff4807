// The npm package @ntrace/web: web/npm/index.d.ts describes it.
import {Engine} from "./engine";

export {traces} from "./files";
export {Engine, Trace} from "./engine";

/** Loads the engine: engine.wasm beside this file, or the module that is given. */
export async function load(wasm?: WebAssembly.Module | BufferSource): Promise<Engine> {
  const bytes = wasm ?? await read(new URL("engine.wasm", import.meta.url));
  return await Engine.load(bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes));
}

async function read(url: URL): Promise<BufferSource> {
  if (url.protocol === "file:") return await (await import("node:fs/promises")).readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return await response.arrayBuffer();
}
