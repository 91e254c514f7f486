import { InputError } from "@causeway/foundation";
import type { CloudConfig } from "../config/config.ts";
import type { Endpoint } from "./token.ts";
import type { ServiceName } from "../types/service-name.ts";

/** Names that catalogs know a service by, in addition to its own (service-types authority). */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  "block-storage": ["volumev3", "block-store", "volume"],
  volumev3: ["block-storage", "block-store", "volume"],
  "shared-file-system": ["sharev2", "share"],
  sharev2: ["shared-file-system"],
  "container-infrastructure-management": ["container-infra", "container-infrastructure"],
  "container-infra": ["container-infrastructure-management", "container-infrastructure"],
};

/** The region to work in: the configured one, or the only one that the catalog knows. */
export function chooseRegion(config: CloudConfig, catalog: readonly Endpoint[]): string {
  const regions = [...new Set(catalog.map((e) => e.region))].filter((r) => r !== "").sort();
  if (config.region !== undefined) {
    if (regions.length === 0 || regions.includes(config.region)) return config.region;
    throw new InputError("CLOUD_REGION_NOT_FOUND", `Cloud ${config.name} has no region ${config.region}.`, {
      hint: `Its catalog has: ${regions.join(", ")}.`,
    });
  }
  const [only] = regions;
  if (regions.length <= 1) return only ?? "";
  throw new InputError("CLOUD_REGION_NOT_FOUND", `Cloud ${config.name} has several regions and none is selected.`, {
    hint: `Set region_name to one of: ${regions.join(", ")}.`,
  });
}

/** The catalog's URL of a service, as the catalog has it; undefined if there is none in this region and interface. */
export function findEndpoint(
  config: CloudConfig,
  where: { catalog: readonly Endpoint[]; region: string },
  service: string,
): string | undefined {
  const names = [service, ...(ALIASES[service] ?? [])];
  for (const name of names) {
    const override = config.endpointOverrides?.[name];
    if (override !== undefined) return override;
  }
  const side = config.interface ?? "public";
  for (const name of names) {
    const found = where.catalog.find((e) => e.type === name && e.interface === side && e.region === where.region);
    if (found) return found.url;
  }
  return undefined;
}

/** The URL that a service's routes are appended to, without a slash at its end. */
export function baseUrl(service: ServiceName, endpoint: string): string {
  const url = endpoint.replace(/\/+$/, "");
  switch (service) {
    case "network":
      return url.endsWith("/v2.0") ? url : `${url}/v2.0`;
    case "image":
      return /\/v2(\.\d+)?$/.test(url) ? url : `${url}/v2`;
    case "load-balancer":
      return `${url.replace(/\/lbaas$/, "").replace(/\/v2(\.0)?$/, "")}/v2/lbaas`;
    case "identity":
      return identityUrl(url);
    case "key-manager":
      return url.endsWith("/v1") ? url : `${url}/v1`;
    case "dns":
      return url.endsWith("/v2") ? url : `${url}/v2`;
    case "container-infrastructure-management":
      return url.endsWith("/v1") ? url : `${url}/v1`;
    case "compute":
    case "block-storage":
    case "shared-file-system":
    case "placement":
    case "orchestration":
    case "object-store":
      return url;
  }
}

/** The path where a service returns its microversions; undefined for services that have none. */
export function versionUrl(service: ServiceName, base: string): string | undefined {
  if (service === "placement") return `${base}/`;
  if (service === "container-infrastructure-management") return `${base.replace(/\/v1$/, "")}/`;
  if (service !== "compute" && service !== "block-storage" && service !== "shared-file-system") return undefined;
  const versioned = /^(.*\/v[23](?:\.\d+)?)(?:\/[^/]+)?$/.exec(base);
  return `${versioned?.[1] ?? base}/`;
}

/** Keystone's v3 root for an auth_url with or without a version. */
export function identityUrl(authUrl: string): string {
  const url = authUrl.replace(/\/+$/, "").replace(/\/auth\/tokens$/, "");
  return url.endsWith("/v3") ? url : `${url.replace(/\/v2\.0$/, "")}/v3`;
}
