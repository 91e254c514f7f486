import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { InputError } from "@causeway/foundation";

/** A server that accepts connections; `port` is the actual one, also where 0 was requested. */
export interface ListeningServer {
  readonly port: number;
  /** Stops at once: open connections are cut. */
  close(): Promise<void>;
}

/** The cloud serves plain HTTP with known passwords: on loopback, unless `insecure`. Throws NOT_LOOPBACK. */
export function requireLoopback(host: string, insecure = false): void {
  if (insecure) return;
  if (host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host)) return;
  throw new InputError(
    "NOT_LOOPBACK",
    `The simulated cloud listens on loopback, and not on ${host} unless it is permitted.`,
    {
      hint: "Use a host like 127.0.0.1: its passwords are known and its traffic is not encrypted. In a container, whose port is published on loopback, permit it with --insecure.",
    },
  );
}

/** Serves `fetch`; port 0 is a free port. Throws PORT_TAKEN if another process has the port. */
export async function listen(
  fetch: Parameters<typeof createAdaptorServer>[0]["fetch"],
  { host, port }: { readonly host: string; readonly port: number },
): Promise<ListeningServer> {
  const server = createAdaptorServer({ fetch });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)));
    server.listen(port, host, resolve);
  });
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 65_000;
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  if (cause.code !== "EADDRINUSE") return cause;
  return new InputError("PORT_TAKEN", `Port ${port} on ${host} is in use; the simulated cloud cannot listen on it.`, {
    cause,
    hint: "Stop the process that listens on the port, or choose another port.",
    details: { host, port },
  });
}
