import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Upgraded } from "./interface.ts";
/** The headers with which a client asks for a WebSocket. */
export declare const HANDSHAKE: Readonly<Record<string, string>>;
/** Of an answer that is no WebSocket. */
export declare const NO_FRAMES: Pick<Upgraded, "take" | "rest" | "send" | "close">;
/** A WebSocket as RFC 6455 has it, read frame by frame. */
export declare function upgradedOf(response: IncomingMessage, socket: Duplex, head: Buffer): Upgraded;
