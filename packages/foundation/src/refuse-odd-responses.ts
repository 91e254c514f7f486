import type { ClientRequest } from "node:http";

/** Informational responses that one request may have, as in Go. */
const MOST_INFORMATIONAL = 5;

/**
 * Fails a request whose server responds with what was not requested: another protocol, or informational responses
 * without end. Without a listener, Node ends a connection that switches protocols, and the request has neither a
 * response nor an error: its time limit does not end it either.
 */
export function refuseOddResponses(sent: ClientRequest, fail: (error: Error) => void): void {
  sent.once("upgrade", (_response, socket) => {
    socket.destroy();
    fail(new Error("its response switches protocols, which was not requested"));
  });
  refuseInformational(sent, fail);
}

/** Fails a request with informational responses without end: they take all the time of a process while they come. */
export function refuseInformational(sent: ClientRequest, fail: (error: Error) => void): void {
  let count = 0;
  sent.on("information", () => {
    count += 1;
    if (count <= MOST_INFORMATIONAL) return;
    const error = new Error(`it has more than ${MOST_INFORMATIONAL} informational responses`);
    fail(error);
    sent.destroy(error);
  });
}
