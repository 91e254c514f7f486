import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * The response to a request for a connection to a container. It is an ordinary one, unless
 * the connection is detached.
 */
export class UpgradeResponse extends ServerResponse {
  readonly request: IncomingMessage;
  readonly #raw: Socket;
  readonly #head: Buffer;

  constructor(request: IncomingMessage, socket: Socket, head: Buffer) {
    super(request);
    this.request = request;
    this.#raw = socket;
    this.#head = head;
    this.shouldKeepAlive = false;
    this.assignSocket(socket);
    this.once("finish", () => socket.end());
  }

  /** The connection, from here on the caller's. */
  takeOver(): { readonly socket: Socket; readonly head: Buffer } {
    this.detachSocket(this.#raw);
    this.finished = true;
    this.#raw.once("close", () => this.emit("close"));
    return { socket: this.#raw, head: this.#head };
  }
}
