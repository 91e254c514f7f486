import { isRecord } from "@causeway/foundation";
import type { Exchange } from "../http/exchange.ts";
import { repeatIdempotent, type RepeatOptions } from "../http/repeat.ts";
import type { ServiceDescription } from "../types/cloud.ts";
import type { CallOptions } from "../types/collection.ts";
import { SMALL_ANSWER } from "../http/transport.ts";
import { baseUrl, versionUrl } from "./endpoints.ts";
import type { ServiceName } from "../types/service-name.ts";
import type { Session } from "./session.ts";

/** What `describeService` needs of a cloud. */
export interface DescribeParts {
  readonly session: Session;
  readonly exchange: Exchange;
  readonly repeat: RepeatOptions;
}

/** GET of the service's version document. Services respond 300 or 200 without checking the token. */
export async function describeService(
  service: ServiceName,
  { session, exchange, repeat }: DescribeParts,
  options?: CallOptions,
): Promise<ServiceDescription | undefined> {
  const endpoint = await session.endpoint(service, options?.signal);
  if (endpoint === undefined) return undefined;
  const url = documentUrl(service, endpoint);
  const { token } = await session.token(options?.signal);
  const ask = () =>
    exchange({
      service,
      method: "GET",
      url,
      route: "/",
      headers: { "X-Auth-Token": token },
      deadline: 30_000,
      limit: SMALL_ANSWER,
      signal: options?.signal,
    });
  const begun = repeat.clock.now();
  const answer = await repeatIdempotent(ask, repeat);
  const date = Date.parse(answer.headers["date"] ?? "");
  const skew = Number.isNaN(date) ? undefined : skewOf(date, begun, repeat.clock.now());
  return { url, versions: versionsIn(answer.body), skew };
}

/**
 * The minimum by which the clock that sent `date`, truncated to the second, is ahead between two instants of ours: a
 * slow response is no skew.
 */
function skewOf(date: number, begun: number, ended: number): number {
  const [most, least] = [date + 1_000 - begun, date - ended];
  if (least > 0) return Math.round(least / 1_000) * 1_000;
  return most < 0 ? Math.round(most / 1_000) * 1_000 : 0;
}

function documentUrl(service: ServiceName, endpoint: string): string {
  const base = baseUrl(service, endpoint);
  const versioned = versionUrl(service, base);
  if (versioned !== undefined) return versioned;
  if (service === "identity") return base;
  return `${base.replace(/\/v\d+(\.\d+)?(\/lbaas)?$/, "")}/`;
}

function versionsIn(document: unknown): ServiceDescription["versions"] {
  if (!isRecord(document)) return [];
  const one = document["version"];
  const listed = Array.isArray(document["versions"]) ? document["versions"] : [one];
  return listed.filter(isRecord).flatMap((version) => {
    const id = text(version["id"]);
    if (id === undefined) return [];
    const maximum = text(version["version"]) ?? text(version["max_version"]);
    const minimum = text(version["min_version"]);
    return [
      {
        id,
        status: text(version["status"]) ?? "",
        ...(minimum === undefined ? {} : { minimum }),
        ...(maximum === undefined ? {} : { maximum }),
      },
    ];
  });
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
