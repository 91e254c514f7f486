import { get as getHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { get as getHttps } from "node:https";
import { messageOf, refuseOddResponses } from "@causeway/foundation";
import type { TunnelAccess } from "../runtime.ts";

/** What a tunnel server reports: are agents connected, and since when (ms since epoch). Undefined: it reports none. */
export interface TunnelReport {
  readonly agents: number;
  readonly since: number;
}

const LONGEST = 10_000;

/** The code of a response that is none of a tunnel server. */
const BAD_RESPONSE = "BAD_RESPONSE";

/**
 * Requests the agents of a control plane from its tunnel server, with a connection of its own. Errors have a code:
 * Node's, HTTP_STATUS or BAD_RESPONSE.
 */
export async function readTunnel(access: TunnelAccess, signal: AbortSignal): Promise<TunnelReport | undefined> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options: RequestOptions = { path: "/agents", agent: false, signal };
    const request =
      "socket" in access
        ? getHttp({ ...options, socketPath: access.socket }, resolve)
        : getHttps(
            new URL("/agents", access.url),
            { ...options, ca: access.certificateAuthority, cert: access.client.certificate, key: access.client.key },
            resolve,
          );
    request.on("error", reject);
    refuseOddResponses(request, reject);
  });
  const text = await textOf(response);
  const { statusCode } = response;
  if (statusCode === 200) return reportOf(text);
  // Another program's server, which forwards CONNECT alone.
  if (statusCode === 404 || statusCode === 405) return undefined;
  throw failure(`HTTP_${statusCode}`, `it responded ${statusCode}: ${text.slice(0, 200)}`);
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > LONGEST) throw failure(BAD_RESPONSE, `its response is longer than ${LONGEST} bytes`);
  }
  return text;
}

function reportOf(text: string): TunnelReport {
  const { agents, since } = parsed(text);
  const at = typeof since === "string" ? Date.parse(since) : Number.NaN;
  if (typeof agents !== "number" || Number.isNaN(at))
    throw failure(BAD_RESPONSE, "its response has no number of agents");
  return { agents, since: at };
}

function parsed(text: string): { readonly agents?: unknown; readonly since?: unknown } {
  try {
    return Object(JSON.parse(text)) as object;
  } catch (error) {
    throw failure(BAD_RESPONSE, `its response is no JSON: ${messageOf(error)}`);
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
