import { connect, type Socket } from "node:net";

/** Of both ends: half-open connections are kept, and a lost peer is noticed. */
export function prepare(socket: Socket): Socket {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  return socket;
}

/** Where an API server listens. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Connects within `milliseconds`; the signal's abort ends the attempt. */
export function dial({ host, port }: Target, milliseconds: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const socket = connect({ host, port, allowHalfOpen: true });
    const fail = (error: Error): void => {
      end();
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason as Error);
    const onTimeout = (): void => fail(new Error(`${host}:${port} did not accept within ${milliseconds} ms`));
    const end = (): void => {
      signal.removeEventListener("abort", onAbort);
      socket.setTimeout(0);
      socket.off("timeout", onTimeout).off("error", fail);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.setTimeout(milliseconds, onTimeout);
    socket.once("error", fail);
    socket.once("connect", () => {
      end();
      // Errors end a connection, as its `close` says.
      socket.on("error", () => {});
      resolve(prepare(socket));
    });
  });
}

/** How two connections are joined. */
export interface RelayOptions {
  /** What was read of the client before: the first bytes for the server. */
  readonly head: Buffer;
  /** How long (ms) nothing may come from the one end when the other has ended its direction. */
  readonly halfOpenTimeout: number;
}

/**
 * Joins two connections until both ended. Each direction ends on its own; one that is not read is not read from either,
 * so that no more than the sockets' buffers wait in memory. An error of one end resets the other.
 */
export function relay(client: Socket, server: Socket, { head, halfOpenTimeout }: RelayOptions): Promise<void> {
  return new Promise((resolve) => {
    let open = 2;
    const ends = [client, server] as const;
    const join = (from: Socket, to: Socket): void => {
      from.once("end", () => {
        for (const each of ends) each.setTimeout(halfOpenTimeout);
      });
      from.once("timeout", () => {
        for (const each of ends) each.destroy();
      });
      from.once("error", () => to.resetAndDestroy());
      from.once("close", () => {
        // Closed before the other end was read to its end: the rest has no reader.
        if (!to.readableEnded) to.destroy();
        open -= 1;
        if (open === 0) resolve();
      });
      from.pipe(to);
    };
    if (head.length > 0) server.write(head);
    join(client, server);
    join(server, client);
    // One that was gone before closes no more.
    if (client.destroyed || server.destroyed) {
      client.destroy();
      server.destroy();
      resolve();
    }
  });
}
