import type { ClientRequest } from "node:http";

/**
 * Fails a request whose response switches protocols, which it did not ask for. Without a listener, Node ends the
 * connection, and the request has neither a response nor an error: its time limit does not end it either.
 */
export function refuseUpgrade(sent: ClientRequest, fail: (error: Error) => void): void {
  sent.once("upgrade", (_response, socket) => {
    socket.destroy();
    fail(new Error("its response switches protocols, which was not requested"));
  });
}
