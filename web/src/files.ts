// What was dropped: which files are a trace, and the words of `ntrace explore` for them.
import {inside, unpacked} from "./archive";
import type {TraceFile} from "./engine";

export interface Opening { files: TraceFile[]; words: string[] }

const SOURCE = /\.(c|h|cc|cpp|cxx|hh|hpp|hxx|s|S|rs|go|zig|d|ada|adb|ads|f90|inc|ld|md|txt|map)$/;

async function starts(file: TraceFile, size: number): Promise<Uint8Array> {
  return file.data instanceof Blob ? new Uint8Array(await file.data.slice(0, size).arrayBuffer()) : file.data.subarray(0, size);
}
const isElf = async (file: TraceFile): Promise<boolean> => String.fromCharCode(...await starts(file, 4)) === "\x7fELF";

/** The traces in files that a user gave, archives included: each folder with a capture.json is one; otherwise one stream with its
 *  ELF files. `more`: options of `ntrace explore` for all. Throws an Error with what is missing. */
export async function traces(given: TraceFile[], more: string[] = []): Promise<Opening[]> {
  const files: TraceFile[] = [];
  for (const {path, data} of given) {
    const blob = data instanceof Blob ? data : new Blob([data as BlobPart]);
    files.push(...await unpacked(path, blob) ?? [{path: inside(path), data}]);
  }
  const bundles = files.filter(({path}) => /(^|\/)capture\.json$/.test(path)).map(({path}) => path.slice(0, -"/capture.json".length));
  if (bundles.includes("")) throw new Error("capture.json: expected the folder of the bundle, found its files; drop the folder, or a .zip or .tar of it");
  if (bundles.length) return bundles.map((folder) => ({files, words: [folder, ...more]}));
  const elfs: TraceFile[] = [], streams: TraceFile[] = [];
  for (const file of files) {
    if (await isElf(file)) elfs.push(file);
    else if (!SOURCE.test(file.path)) streams.push(file);
  }
  if (streams.length !== 1 || !elfs.length)
    throw new Error(`expected a bundle (a folder with capture.json, or a .zip or .tar of it), or one stream and its ELF files; found ${streams.length} files that may be streams and ${elfs.length} ELF files`);
  return [{files, words: [streams[0].path, ...elfs.flatMap(({path}) => ["-e", path]), ...more]}];
}
