import type { Duplex } from "node:stream";
import { protocolError } from "./frames.ts";
import { Gather } from "./gather.ts";
import { KIND, PREFIX, plainFrame } from "./plain-codec.ts";

/** The first frame of an agent. */
export interface AgentGreeting {
  readonly agentId: string;
  readonly identifiers: string;
  readonly token?: string;
  /** Bytes that each stream may send before the first WINDOW. */
  readonly window: number;
}

/** The response of a server: it accepts the agent, or refuses it with a code of grpc-status. */
export type ServerGreeting =
  | {
      readonly serverId: string;
      readonly serverCount: number;
      readonly window: number;
      /** It accepts further tokens on the connection. */
      readonly renews: boolean;
    }
  | { readonly status: number; readonly refusal: string };

/** Tokens of ServiceAccounts have one to two kilobytes. */
const LONGEST = 64 * 1024;

/** The first frame of a side, with its greeting as JSON. */
export function greetingFrame(greeting: AgentGreeting | ServerGreeting): Buffer {
  return plainFrame(KIND.greeting, Buffer.from(JSON.stringify(greeting)));
}

/**
 * The other side's greeting; what follows it remains in the stream, which is paused. @throws TUNNEL_PROTOCOL_ERROR, and
 * what the signal or the stream ended with.
 */
export function readGreeting(wire: Duplex, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const gather = new Gather();
    const end = (act: () => void): void => {
      wire.off("data", onData).off("close", onClose).off("error", fail);
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const fail = (error: unknown): void => end(() => reject(error instanceof Error ? error : new Error(String(error))));
    const onClose = (): void => fail(new Error("the connection ended before the greeting"));
    const onAbort = (): void => fail(signal.reason);
    const onData = (chunk: Buffer): void => {
      try {
        const kept = gather.push(chunk);
        if (!kept) return;
        const needed = neededOf(kept);
        if (kept.length < needed) return gather.keep(kept, needed);
        const greeting = parsed(kept.subarray(PREFIX, needed));
        const rest = kept.subarray(needed);
        end(() => {
          wire.pause();
          if (rest.length > 0) wire.unshift(rest);
          resolve(greeting);
        });
      } catch (error) {
        fail(error);
      }
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    wire.on("data", onData).once("close", onClose).once("error", fail);
  });
}

function neededOf(kept: Buffer): number {
  if (kept[0] !== KIND.greeting) throw protocolError("the first frame is not a greeting");
  if (kept.length < PREFIX) return PREFIX;
  const size = kept.readUInt32BE(1);
  if (size > LONGEST) throw protocolError(`its greeting has ${size} bytes, more than ${LONGEST}`);
  return PREFIX + size;
}

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw protocolError("its greeting is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw protocolError("its greeting is not an object");
  return value as Readonly<Record<string, unknown>>;
}
