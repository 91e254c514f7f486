import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { requestInfo } from "../contract/request-info.ts";
import { readTarget } from "./target.ts";

const UPGRADED = new Set(["exec", "attach", "portforward"]);

/** Whether a request asks for a connection to a container: kubectl's SPDY, or a WebSocket. */
export function isPodUpgrade({ method = "", url = "/", headers }: IncomingMessage): boolean {
  const { upgrade = "", connection = "" } = headers;
  if (upgrade === "" || !/(^|.*,\s*)upgrade($|\s*,)/i.test(connection)) return false;
  try {
    const { path, query } = readTarget(url);
    const { plural, subresource } = requestInfo(method, path.replace(/^\/clusters\/[^/]+/, ""), query);
    return plural === "pods" && UPGRADED.has(subresource);
  } catch {
    return false;
  }
}

/** The response to such a request. It is an ordinary one, unless the connection is taken over. */
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
