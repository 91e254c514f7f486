import type { IncomingMessage } from "node:http";
import { requestInfo } from "../contract/request-info.ts";
import { readTarget } from "./target.ts";
import type { UpgradeResponse } from "./upgrade.ts";

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

/**
 * Whether the connection of a response can be detached. The class is loaded with the first such request: a snapshot
 * cannot hold it.
 */
export function canTakeOver(response: object): response is UpgradeResponse {
  return "takeOver" in response;
}
