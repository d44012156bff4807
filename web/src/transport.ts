// Where answers come from. The page knows nothing else of the engine: a server, or a worker with the library.
import type {Answer, Question} from "./types";

export interface Transport {
  /** How many traces are open. */
  traces(): Promise<number>;
  /** The answer about a trace, from 0. An answer with `error` is an answer. Throws when there is no engine any more. */
  ask(trace: number, question: Question): Promise<Answer>;
}

/** The server of ntrace open, at the address of the page. */
export class ServerTransport implements Transport {
  async traces(): Promise<number> {
    return Number(await (await fetch("traces")).text());
  }
  async ask(trace: number, question: Question): Promise<Answer> {
    const response = await fetch(`ask/${trace}`, {method: "POST", body: JSON.stringify(question)});
    if (response.status !== 200 && response.status !== 400) throw new Error(await response.text());
    return await response.json();
  }
}
