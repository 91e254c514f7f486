/** What this package uses of the library ws, which has no types of its own. */
declare module "ws" {
  import type { EventEmitter } from "node:events";
  import type { IncomingMessage } from "node:http";
  import type { Duplex } from "node:stream";

  export interface WebSocket extends EventEmitter {
    readonly readyState: number;
    readonly OPEN: number;
    send(data: Buffer, options: { readonly binary: boolean }, sent?: (error?: Error) => void): void;
    pong(data: Buffer): void;
    close(code: number): void;
  }

  export class WebSocketServer extends EventEmitter {
    constructor(options: {
      readonly noServer: true;
      readonly autoPong?: boolean;
      readonly closeTimeout?: number;
      readonly maxBufferedChunks?: number;
      readonly maxFragments?: number;
      readonly maxPayload?: number;
      readonly perMessageDeflate?: boolean;
      readonly handleProtocols?: (protocols: ReadonlySet<string>) => string | false;
    });
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, accepted: (socket: WebSocket) => void): void;
  }
}
