import { InputError, isRecord } from "@causeway/foundation";
import type { EndpointInterface } from "../config/config.ts";

/** An endpoint of the catalog, as the token has it. */
export interface Endpoint {
  readonly type: string;
  readonly interface: EndpointInterface;
  readonly region: string;
  readonly url: string;
}

/** A token and what came with it. `token` is a secret. */
export interface Token {
  readonly token: string;
  /** Milliseconds from issue to expiry, by the cloud's own clock. */
  readonly lifetime: number;
  readonly projectId: string | undefined;
  readonly userId: string;
  readonly catalog: readonly Endpoint[];
}

/** Reads the response of POST /v3/auth/tokens. */
export function readToken(cloud: string, token: string | undefined, body: unknown): Token {
  const facts = isRecord(body) ? body["token"] : undefined;
  if (token === undefined || !isRecord(facts)) {
    throw new InputError("CLOUD_CONFIG_INVALID", `What answers at the auth_url of cloud ${cloud} is not Keystone v3.`, {
      hint: "auth_url is the identity service's URL; do not use the address of Horizon.",
    });
  }
  const project = facts["project"];
  const user = facts["user"];
  const lifetime = instant(facts["expires_at"]) - instant(facts["issued_at"]);
  return {
    token,
    lifetime: Number.isFinite(lifetime) ? lifetime : 3_600_000,
    projectId: isRecord(project) ? text(project["id"]) : undefined,
    userId: isRecord(user) ? (text(user["id"]) ?? "") : "",
    catalog: Array.isArray(facts["catalog"]) ? facts["catalog"].flatMap(readService) : [],
  };
}

function readService(service: unknown): Endpoint[] {
  if (!isRecord(service) || !Array.isArray(service["endpoints"])) return [];
  const type = text(service["type"]) ?? "";
  return service["endpoints"].filter(isRecord).flatMap((endpoint) => {
    const side = text(endpoint["interface"]) ?? "";
    const url = text(endpoint["url"]);
    if (url === undefined || !isInterface(side)) return [];
    return [{ type, interface: side, region: text(endpoint["region_id"] ?? endpoint["region"]) ?? "", url }];
  });
}

function isInterface(value: string): value is EndpointInterface {
  return value === "public" || value === "internal" || value === "admin";
}
function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
function instant(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}
