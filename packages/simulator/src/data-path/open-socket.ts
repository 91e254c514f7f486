import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { messageOf } from "@causeway/foundation";
import { loopbackOf, type Place } from "./addresses.ts";

/** A listening socket, or why there is none. */
export type Opened = { readonly server: Server; readonly at: Place } | { readonly why: string };

/**
 * Listens where the address of the cloud is on this machine. A port that is in use or needs a privilege is replaced by
 * a free one; where the system has only 127.0.0.1 of loopback, that address is used.
 */
export async function openSocket(
  { address, port }: { readonly address: string; readonly port: number },
  accept: (socket: Socket) => void,
): Promise<Opened> {
  const host = loopbackOf(address);
  let why = "";
  for (const place of [
    { host, port },
    { host, port: 0 },
    { host: "127.0.0.1", port: 0 },
  ]) {
    const server = createServer({ noDelay: true }, accept);
    try {
      await listening(server, place);
      const { address: at, port: taken } = server.address() as AddressInfo;
      return { server, at: { host: at, port: taken } };
    } catch (error) {
      why = messageOf(error);
    }
  }
  return { why };
}

function listening(server: Server, { host, port }: Place): Promise<void> {
  return new Promise((done, failed) => {
    server.once("error", failed);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener("error", failed);
      // A failed accept (no file descriptor left) is retried by Node.
      server.on("error", () => {});
      done();
    });
  });
}
