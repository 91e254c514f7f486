import type { IncomingMessage } from "node:http";
import { readBounded, type Clock } from "@causeway/foundation";
import { MagnumError } from "../wire/error.ts";

const LARGEST = 256 * 1024;
/** Milliseconds for all of a body: until then its request holds a place of its project. */
const DEADLINE = 10_000;

/** The body of a request. @throws MagnumError 408, LimitExceeded */
export async function bodyOf(incoming: IncomingMessage, clock: Clock): Promise<Buffer> {
  const read = new AbortController();
  const late = clock.sleep(DEADLINE, read.signal).then(() => {
    throw new MagnumError(408, `The body of the request did not arrive within ${DEADLINE / 1000} seconds.`);
  });
  try {
    return await Promise.race([readBounded(incoming, LARGEST), late]);
  } finally {
    read.abort();
    // The sleep that was ended rejects, and nothing waits for it.
    late.catch(() => {});
  }
}
