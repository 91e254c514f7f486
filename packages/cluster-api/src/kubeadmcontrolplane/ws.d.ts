/** What this package uses of ws; the package brings no types. */
declare module "ws" {
  import type { EventEmitter } from "node:events";
  import type { IncomingMessage } from "node:http";
  import type { Server } from "node:https";

  export interface WebSocketEvents {
    open: [];
    close: [];
    error: [error: Error];
    message: [data: Buffer];
  }

  export interface ClientOptions {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly handshakeTimeout?: number;
    readonly maxPayload?: number;
  }

  export class WebSocket extends EventEmitter<WebSocketEvents> {
    constructor(url: string, protocols: readonly string[], options?: ClientOptions);
    send(data: Uint8Array, done?: (error?: Error | null) => void): void;
    close(): void;
    terminate(): void;
  }

  export class WebSocketServer extends EventEmitter<{ connection: [socket: WebSocket, request: IncomingMessage] }> {
    constructor(options: { readonly server: Server; readonly handleProtocols: () => string });
  }
}
