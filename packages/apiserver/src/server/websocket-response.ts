import { ServerResponse, STATUS_CODES, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import { AHEAD_BYTES } from "./pace.ts";

/** Clients have nothing to say: what they send is ignored, and a message longer than this ends the connection. */
const MESSAGE_BYTES = 64 * 1024;
const FRAGMENTS = 16;
/** Milliseconds that a client has for its part of the closing handshake. */
const CLOSING = 2000;
const NORMAL_CLOSURE = 1000;

type Done = (error?: Error | null) => void;

const sockets = new WebSocketServer({
  noServer: true,
  // Answers to pings are bounded below: a client that does not read them gets none.
  autoPong: false,
  closeTimeout: CLOSING,
  maxFragments: FRAGMENTS,
  maxPayload: MESSAGE_BYTES,
  perMessageDeflate: false,
});

/**
 * The response to a watch by WebSocket. It takes what every watch writes, lines of JSON, and sends each line as one
 * text message. A refused watch gets the response of plain HTTP, and the connection is closed after it.
 */
export class WebSocketResponse extends ServerResponse {
  readonly #request: IncomingMessage;
  readonly #raw: Socket;
  readonly #head: Buffer;
  #open: WebSocket | undefined;

  constructor(request: IncomingMessage, socket: Socket, head: Buffer) {
    super(request);
    this.#request = request;
    this.#raw = socket;
    this.#head = head;
    this.shouldKeepAlive = false;
    socket.on("error", () => {});
    this.assignSocket(socket);
    this.once("finish", () => socket.end());
  }

  /** The watch begins: the connection becomes a WebSocket. */
  override flushHeaders(): void {
    const refusal = refusalOf(this.#request.headers);
    if (refusal) return this.#refuse(refusal);
    sockets.handleUpgrade(this.#request, this.#raw, this.#head, (socket) => {
      this.#open = socket;
      socket.on("error", () => {});
      socket.on("ping", (data: Buffer) => {
        if (this.writableLength < AHEAD_BYTES) socket.pong(data);
      });
    });
  }

  override write(piece: unknown, encoding?: BufferEncoding | Done, done?: Done): boolean {
    if (!this.#open) return super.write(piece, encoding as BufferEncoding, done);
    const sent = typeof encoding === "function" ? encoding : done;
    if (!Buffer.isBuffer(piece) || this.#open.readyState !== this.#open.OPEN) {
      sent?.();
      return false;
    }
    for (let from = 0; from < piece.length;) {
      const end = piece.indexOf(0x0a, from);
      const next = end < 0 ? piece.length : end + 1;
      const isLast = next === piece.length;
      this.#open.send(piece.subarray(from, next), { binary: false }, isLast ? (error) => sent?.(error) : undefined);
      from = next;
    }
    return true;
  }

  override end(...given: unknown[]): this {
    if (!this.#open) return super.end(...(given as Parameters<ServerResponse["end"]>));
    this.finished = true;
    this.#open.close(NORMAL_CLOSURE);
    this.#raw.end();
    return this;
  }

  /** Refuses the handshake in upstream's form, which has no headers of its own. */
  #refuse({ code, header = "", text = "" }: Refusal): void {
    this.statusCode = code;
    this.finished = true;
    this.#raw.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ""}\r\n${header}\r\n${text}`);
  }
}

interface Refusal {
  readonly code: number;
  readonly header?: string;
  readonly text?: string;
}

/**
 * What is wrong with a handshake. Browsers name their origin, and others must too; one subprotocol may be requested,
 * and is accepted.
 */
function refusalOf(headers: IncomingHttpHeaders): Refusal | undefined {
  const { "sec-websocket-key": key = "", "sec-websocket-version": version, origin = "" } = headers;
  if (key === "") return { code: 400, text: "missing or bad Sec-WebSocket-Key" };
  if (version !== "13") return { code: 400, header: "Sec-WebSocket-Version: 13\r\n", text: "bad version" };
  if (!/^(\/|\*$|[a-zA-Z][a-zA-Z0-9+.-]*:)/.test(origin)) return { code: 403 };
  if (headers["sec-websocket-protocol"]?.includes(",")) return { code: 400 };
  return undefined;
}
