import type { Response } from "../contract/exchange.ts";

/** What is written ahead of a client, in steps of so many bytes. */
export const AHEAD_BYTES = 512 * 1024;
/** The length of one step. */
export const STEP_BYTES = 128 * 1024;
/** How long a client may take to read that. */
const SLOW_CLIENT_TIME = 30_000;

interface Paced extends NodeJS.WritableStream {
  readonly writableLength: number;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
}

/** What is written to: of HTTP/2, the answer object does not say whether it is full or gone. */
function streamOf(response: Response): Paced {
  return "stream" in response ? response.stream : response;
}

/**
 * Nothing can be written any more. Node ends the stream of a HEAD over HTTP/2 at once, though its answer still has a
 * head to send.
 */
export function isOver(response: Response): boolean {
  const stream = streamOf(response);
  // Node's types lack this property of a server's streams.
  const isHead = "headRequest" in stream && stream.headRequest === true;
  return stream.destroyed || (stream.writableEnded && !isHead) || response.writableEnded;
}

/**
 * Does something once nothing can be written any more: at once when that is so already, since a closed response emits
 * no second "close".
 */
export function whenOver(response: Response, act: () => void): void {
  if (isOver(response)) act();
  else response.once("close", act);
}

/** What was written beyond AHEAD_BYTES and has not left yet, and who waits for that. */
interface Backlog {
  pieces: number;
  readonly left: Promise<void>;
  readonly done: () => void;
}

const backlogs = new WeakMap<Response, Backlog>();

/**
 * Writes a piece of an answer. The buffer of an HTTP/1.1 connection never counts as full, so it is noticed here when a
 * piece has left.
 */
export function writeTo(response: Response, piece: Buffer): void {
  const stream = streamOf(response);
  // Both kinds of response write the same way, but their types do not say so.
  const target: Pick<NodeJS.WritableStream, "write"> = response;
  if (stream.writableLength + piece.length < AHEAD_BYTES) return void target.write(piece);
  const backlog = backlogOf(response, stream);
  backlog.pieces += 1;
  target.write(piece, () => {
    backlog.pieces -= 1;
    if (backlog.pieces === 0) backlog.done();
  });
}

function backlogOf(response: Response, stream: Paced): Backlog {
  const known = backlogs.get(response);
  if (known) return known;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => response.destroy(new Error("the client does not read")), SLOW_CLIENT_TIME).unref();
  const done = (): void => {
    clearTimeout(timer);
    stream.off("close", done);
    if (backlogs.get(response) === made) backlogs.delete(response);
    resolve();
  };
  const made: Backlog = { pieces: 0, left: promise, done };
  backlogs.set(response, made);
  stream.once("close", done);
  return made;
}

/**
 * Resolves when the client has read what was written for it, or has gone; undefined when there is room for more. A
 * client that does not read is disconnected.
 */
export function roomIn(response: Response): Promise<void> | undefined {
  return backlogs.get(response)?.left;
}

/** The next turn of the event loop: what others sent meanwhile is read first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
