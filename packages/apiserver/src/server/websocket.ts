import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { requestInfo } from "../contract/request-info.ts";
import { readTarget } from "./target.ts";

/** Whether a request asks for a WebSocket. */
export function asksForWebSocket({ upgrade = "", connection = "" }: IncomingHttpHeaders): boolean {
  return upgrade.toLowerCase() === "websocket" && /(^|.*,\s*)upgrade($|\s*,)/i.test(connection);
}

/** Whether a request is a watch that is to be served by WebSocket. Others get the response of a plain request. */
export function isWebSocketWatch({ method = "", url = "/", headers }: IncomingMessage): boolean {
  if (!asksForWebSocket(headers)) return false;
  try {
    const { path, query } = readTarget(url);
    return requestInfo(method, path.replace(/^\/clusters\/[^/]+/, ""), query).verb === "watch";
  } catch {
    return false;
  }
}
