import type { Response } from "./respond.ts";

/** What is written ahead of a client, in steps of so many bytes. */
export const AHEAD_BYTES = 512 * 1024;
export const STEP_BYTES = 128 * 1024;
/** How long a client may take to read that. */
const SLOW_CLIENT_TIME = 30_000;

interface Paced extends NodeJS.WritableStream {
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
}

const waiting = new WeakMap<Response, Promise<void>>();

/** What is written to: of HTTP/2, the answer object does not say whether it is full or gone. */
function streamOf(response: Response): Paced {
  return "stream" in response ? response.stream : response;
}

/** Nothing can be written any more. */
export function isOver(response: Response): boolean {
  const stream = streamOf(response);
  return stream.destroyed || stream.writableEnded || response.writableEnded;
}

/** Resolves when the client has read what was written for it, or has gone; undefined when there is room for more. A client that does not read is let go. */
export function roomIn(response: Response, patience = SLOW_CLIENT_TIME): Promise<void> | undefined {
  const stream = streamOf(response);
  if (stream.writableLength < AHEAD_BYTES || !stream.writableNeedDrain || stream.destroyed) return undefined;
  const known = waiting.get(response);
  if (known) return known;
  const made = new Promise<void>((resolve) => {
    const timer = setTimeout(() => response.destroy(new Error("the client does not read")), patience).unref();
    const go = (): void => {
      clearTimeout(timer);
      stream.off("drain", go);
      stream.off("close", go);
      waiting.delete(response);
      resolve();
    };
    stream.once("drain", go);
    stream.once("close", go);
  });
  waiting.set(response, made);
  return made;
}

/** The next turn of the event loop: what others sent meanwhile is read first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
