import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { InputError, messageOf } from "@causeway/foundation";

/** An address to listen at. */
export interface Listen {
  /** Every interface, unless given. */
  readonly host?: string;
  readonly port: number;
}

/** A listening server that ends with its connections. */
export interface ListeningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws TUNNEL_LISTEN_FAILED */
export async function listen(server: Server, where: Listen | { readonly path: string }): Promise<ListeningServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const at = "path" in where ? where.path : `${where.host ?? ""}:${where.port}`;
      reject(
        new InputError("TUNNEL_LISTEN_FAILED", `The tunnel server cannot listen on ${at}: ${messageOf(cause)}.`, {
          cause,
          hint: "Stop the other process, or choose another port or socket.",
        }),
      );
    });
    server.listen(where, resolve);
  });
  if ("path" in where) chmodSync(where.path, 0o600);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

/** Deletes the socket that a killed process left. */
export function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path);
}
