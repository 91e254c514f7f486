import type { HealthMonitor } from "../load-balancing/model.ts";
import type { Monitor } from "./model.ts";

const types = ["TCP", "HTTP", "HTTPS", "TLS-HELLO"] as const;
/** Two probes of a member are at least this far apart (ms), whatever the monitor says. */
const SHORTEST = 100;
const MOST_CODES = 500;

/** What a monitor does; undefined: there is none that sends anything on loopback (PING, UDP-CONNECT, SCTP). */
export function monitorOf(row: HealthMonitor | undefined): Monitor | undefined {
  const type = types.find((each) => each === row?.type);
  if (!row || !type) return undefined;
  return {
    type,
    delay: Math.max(SHORTEST, row.delay * 1_000),
    timeout: Math.max(SHORTEST, row.timeout * 1_000),
    rise: row.max_retries,
    fall: row.max_retries_down,
    method: row.http_method ?? "GET",
    path: row.url_path ?? "/",
    version: row.http_version === 1.1 ? "1.1" : "1.0",
    host: row.domain_name ?? undefined,
    codes: expectedCodes(row.expected_codes ?? "200"),
  };
}

/** "200", "200,202" or "200-204", as Octavia's API takes them. */
export function expectedCodes(text: string): ReadonlySet<number> {
  const codes = new Set<number>();
  for (const part of text.split(",")) {
    const [first = NaN, last = first] = part.trim().split("-").map(Number);
    for (let code = first; code <= last && codes.size < MOST_CODES; code += 1) codes.add(code);
  }
  return codes;
}
