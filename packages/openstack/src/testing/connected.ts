import { CausewayError } from "@causeway/foundation";
import type { CloudConfig } from "../config/config.ts";
import { connectCloud, type ConnectOptions } from "../connect.ts";
import type { Cloud } from "../types/cloud.ts";
import { HastyClock, scriptedCloud, type Reply, type Script, type ScriptedCloud } from "./scripted-cloud.ts";

/** Closed after each test of a file that calls `closeAll` then. */
export const open: { close(): Promise<void> }[] = [];
export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((o) => o.close()));
}

export async function start(
  script: Script,
  options: ConnectOptions & { config?: Partial<CloudConfig>; lifetime?: number } = {},
): Promise<{ server: ScriptedCloud; cloud: Cloud; clock: HastyClock }> {
  const clock = new HastyClock();
  const server = await scriptedCloud(script, options.lifetime === undefined ? {} : { lifetime: options.lifetime });
  const cloud = connectCloud({ ...server.config, ...options.config }, { clock, ...options });
  open.push(cloud, server);
  return { server, cloud, clock };
}

export async function failure(promise: Promise<unknown>): Promise<CausewayError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof CausewayError) return error;
  throw new Error(`no CausewayError but ${String(error)}`);
}

/** Answers in turn, the last one for ever, to everything but Keystone and version documents. */
export function inTurn(...replies: Reply[]): Script {
  return ({ path }) => {
    if (path.startsWith("/identity") || path.endsWith("/v2.1/")) return undefined;
    return replies.length > 1 ? replies.shift() : replies[0];
  };
}
