import type { Duplex } from "node:stream";

const NOTHING = Buffer.alloc(0);

/**
 * Is a client that sends no more still there? A Unix socket that its client has closed refuses even a write of nothing.
 * TCP does not show it. `onResult` is called once, when what the socket has to write before is written.
 */
export function probe(socket: Duplex, onResult: (isGone: boolean) => void): void {
  // Most dials end with such an error, which nothing prints: its stack trace takes a tenth of the server's time for
  // them. It is made within the write.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    socket.write(NOTHING, (error) => onResult(error !== null && error !== undefined));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
