// Questions and answers: docs/explore.md and docs/schemas/explore.schema.json.

/** A number; above 2^53 - 1 a text of its digits. */
export type Num = number | string;
export type Question = {query: string} & Record<string, unknown>;

export interface Fn { name: string | null; address?: string; file?: string; line?: Num; image?: string }
export interface Progress { bytes: Num; size?: Num; known: Num; indexed: Num; read: boolean; complete: boolean }
export interface Answer { functions: Fn[]; complete: boolean; interrupted?: boolean; progress: Progress; error?: string }

export interface About extends Answer {
  title: string | null; instructions: Num; harts: {src: Num; name?: string; instructions: Num}[]; losses: string[]; damage: string | null;
  facts: {label: string; value: string}[]; images: {name: string | null}[]; disassembly: boolean; ticks_per_second: Num;
}
export interface OverviewHart {
  src: Num; instructions: Num[]; function: (number | null)[]; most: Num[]; interrupts: Num[]; exceptions: Num[]; gaps: Num[];
}
export interface Overview extends Answer { from: Num; to: Num; bounds: Num[]; times: (Num | null)[]; harts: OverviewHart[] }
export interface Slice { src: Num; depth: number; begin: Num; end: Num; function: number; kind?: string; cut_begin?: boolean; cut_end?: boolean }
export interface Context { prv?: string; scontext?: string; hcontext?: string }
export interface Slices extends Answer { from: Num; to: Num; slices: Slice[]; least: Num; contexts: {src: Num; begin: Num; end: Num; context: Context}[] }
export interface Node { depth: number; function?: number; src?: Num; kind?: string; self: Num; total: Num; calls: Num }
export interface Tree extends Answer { from: Num; to: Num; tree: Node[]; least: Num }
export interface FunctionRow { function: number; self: Num; total: Num; calls: Num }
export interface Functions extends Answer { from: Num; to: Num; rows: FunctionRow[]; left_out: Num }
export interface Gap { position: Num; src: Num; reason: string; offset: Num; message: Num; bytes: Num; messages: Num; from_address?: string; to_address?: string; from_time?: Num; to_time?: Num }
export interface Gaps extends Answer { gaps: Gap[]; left_out: Num }
export interface Instruction { position: Num; address: string; bytes: string; text?: string; in?: string; file?: string; line?: Num; message: Num; time?: Num }
export interface Frame { function: number; kind: string; address: string; in?: string; file?: string; line?: Num }
export interface At extends Answer {
  position: Num; here: Num; gap?: Gap; stack: Frame[]; depth: Num; instructions: Instruction[];
  hart: {src: Num; address?: string; time?: Num; number: Num; message: Num; offset: Num; ended: boolean; context: Context};
}
export interface Message { number: Num; offset: Num; size: Num; name: string; text?: string; defect?: string; here?: boolean; bytes: {value: string; mseo?: Num; ends?: string[]}[] }
export interface Messages extends Answer { messages: Message[] }
export interface Found extends Answer { found: boolean; position?: Num; src?: Num; gap?: Gap }
export interface Names extends Answer { names: number[] }
export interface Lines extends Answer { from: Num; to: Num; rows: {file?: string; line: Num; instructions: Num}[]; left_out: Num; unknown: Num }
export interface Syscalls extends Answer { from: Num; to: Num; rows: {name: string; times: Num; instructions: Num; function: number}[]; left_out: Num }
export interface Source extends Answer { file: string; found: boolean; first: Num; text: string[]; lines: Num }

/** Positions are below 2^53: a trace with more instructions would be larger than any disk. */
export const num = (value: Num | null | undefined): number => Number(value ?? 0);

/** Names of harts: threads of a program have one. */
const names = new Map<number, string>();
export function nameHarts(harts: About["harts"]): void {
  names.clear();
  for (const hart of harts) if (hart.name) names.set(num(hart.src), hart.name);
}
export const hartName = (src: Num): string => (names.has(num(src)) ? `hart ${src} ${names.get(num(src))}` : `hart ${src}`);
