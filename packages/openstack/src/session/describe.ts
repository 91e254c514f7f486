import type { Exchange } from "../http/exchange.ts";
import { repeatIdempotent, type RepeatOptions } from "../http/repeat.ts";
import { isRecord } from "../errors/message.ts";
import type { ServiceDescription } from "../types/cloud.ts";
import type { CallOptions } from "../types/collection.ts";
import { baseUrl, versionUrl, type ServiceName } from "./endpoints.ts";
import type { Session } from "./session.ts";

export interface DescribeParts {
  readonly session: Session;
  readonly exchange: Exchange;
  readonly repeat: RepeatOptions;
}

/** GET of the service's version document. Services answer 300 or 200 there, without looking at the token. */
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
      signal: options?.signal,
    });
  const begun = repeat.clock.now();
  const answer = await repeatIdempotent(ask, repeat);
  const middle = (begun + repeat.clock.now()) / 2;
  const date = Date.parse(answer.headers["date"] ?? "");
  // The header is cut to the second: half of one is what it is behind on average.
  const skew = Number.isNaN(date) ? undefined : Math.round((date + 500 - middle) / 1_000) * 1_000;
  return { url, versions: versionsIn(answer.body), skew };
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
