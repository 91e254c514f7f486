import type { Target } from "./pool.ts";

/** HOST:PORT, as CONNECT and DIAL_REQ name it, IPv6 addresses in brackets; undefined: it is neither. */
export function targetOf(text: string): Target | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/?#@\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  return host === undefined ? undefined : { host, port: Number(match?.[3]) };
}
