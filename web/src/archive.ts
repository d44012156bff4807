// Archives of a bundle: .zip, .tar and .tar.gz. What is stored without compression stays in the file that the user gave.
import {BlobReader, ZipReader, type FileEntry} from "@zip.js/zip.js/lib/zip-core-native.js";
import type {TraceFile} from "./engine";

const EXPANDED_MOST = 16 * 2 ** 30, ENTRIES_MOST = 100_000, BLOCK = 512;

/** A stream as a Blob, which a browser keeps on the disk when it is large. */
async function collected(stream: ReadableStream<Uint8Array>, name: string): Promise<Blob> {
  let size = 0;
  const bounded = stream.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({transform(chunk, controller) {
    size += chunk.length;
    if (size > EXPANDED_MOST) throw new Error(`${name}: expected at most 16 GiB after decompression`);
    controller.enqueue(chunk);
  }}));
  return await new Response(bounded as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
}

async function zip(name: string, data: Blob): Promise<TraceFile[]> {
  const reader = new ZipReader(new BlobReader(data), {useWebWorkers: false}), files: TraceFile[] = [];
  for await (const entry of reader.getEntriesGenerator()) {
    if (files.length === ENTRIES_MOST) throw new Error(`${name}: expected at most ${ENTRIES_MOST} files`);
    if (entry.directory) continue;
    const {readable, writable} = new TransformStream<Uint8Array, Uint8Array>();
    const done = (entry as FileEntry).getData(writable), blob = collected(readable, `${name}: ${entry.filename}`);
    await Promise.all([done, blob]);
    files.push({path: entry.filename, data: await blob});
  }
  return files;
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0[^]*$/, "");
function number(bytes: Uint8Array): number {
  if (bytes[0] & 0x80) return bytes.subarray(bytes.length - 6).reduce((sum, byte) => sum * 256 + byte, 0);
  return parseInt(text(bytes).trim() || "0", 8);
}

/** The rows "LENGTH KEY=VALUE\n" of a pax header. */
const pax = (bytes: Uint8Array): Record<string, string> => Object.fromEntries([...text(bytes).matchAll(/^\d+ ([^=]+)=(.*)$/gm)].map(([, key, value]) => [key, value]));

async function tar(name: string, data: Blob): Promise<TraceFile[]> {
  const files: TraceFile[] = [], bytesOf = async (from: number, size: number): Promise<Uint8Array> => new Uint8Array(await data.slice(from, from + size).arrayBuffer());
  let more: Record<string, string> = {};
  for (let at = 0; at + BLOCK <= data.size;) {
    const head = await bytesOf(at, BLOCK), part = (from: number, size: number): Uint8Array => head.subarray(from, from + size);
    if (head[0] === 0) return files;
    const sum = head.reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 32 : byte), 0), type = String.fromCharCode(head[156] || 48);
    const size = more.size === undefined ? number(part(124, 12)) : Number(more.size), from = at + BLOCK;
    if (sum !== number(part(148, 8)) || !(size >= 0)) throw new Error(`${name}: byte ${at}: expected the header of a file in a tar archive`);
    if (from + size > data.size) throw new Error(`${name}: byte ${at}: expected ${size} bytes of a file, found ${data.size - from}`);
    const ustar = text(part(257, 5)) === "ustar", folder = ustar ? text(part(345, 155)) : "", path = more.path ?? (folder ? `${folder}/` : "") + text(part(0, 100));
    at = from + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "x" || type === "L") {
      if (size > 1 << 20) throw new Error(`${name}: byte ${from}: expected a name of at most 1 MiB`);
      const bytes = await bytesOf(from, size);
      more = type === "x" ? pax(bytes) : {path: text(bytes)};
      continue;
    }
    more = {};
    if (type !== "0" && type !== "7") continue;
    if (files.length === ENTRIES_MOST) throw new Error(`${name}: expected at most ${ENTRIES_MOST} files`);
    files.push({path, data: data.slice(from, from + size)});
  }
  throw new Error(`${name}: byte ${data.size}: expected the end of the tar archive, found the end of the file`);
}

/** Names cannot lead out of the folder that the files are put into. */
export const inside = (path: string): string => path.split("/").filter((part) => part && part !== "." && part !== "..").join("/");

/** The files of an archive, or null when the name is not that of an archive. */
export async function unpacked(path: string, data: Blob): Promise<TraceFile[] | null> {
  const [, stem, kind] = /^(?:.*\/)?(.*?)\.(zip|tar|tgz|tar\.gz)$/i.exec(path) ?? [];
  if (!kind) return null;
  const plain = /gz$/i.test(kind) ? await collected(data.stream().pipeThrough(new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>), path) : data;
  const files = (await (kind.toLowerCase() === "zip" ? zip : tar)(path, plain)).map((file) => ({...file, path: inside(file.path)}));
  const bare = files.some((file) => file.path === "capture.json");
  return bare ? files.map((file) => ({...file, path: `${stem}/${file.path}`})) : files;
}
