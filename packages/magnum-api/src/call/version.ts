import { MagnumError, unrouted } from "../wire/error.ts";

/** The oldest microversion: 1.1, which requests without a header get. */
export const MIN_MINOR = 1;
/** The newest microversion: 1.14, which "latest" represents. */
export const MAX_MINOR = 14;
const HEADER = "OpenStack-API-Version";
const services = ["container-infrastructure-management", "container-infrastructure", "container-infra"];
const [service = ""] = services;
const range = `[${service} 1.${MIN_MINOR}, ${service} 1.${MAX_MINOR}]`;

/** The headers of every response below /v1. */
export function versionHeaders(version: string): Record<string, string> {
  return {
    "OpenStack-API-Minimum-Version": `${service} 1.${MIN_MINOR}`,
    "OpenStack-API-Maximum-Version": `${service} 1.${MAX_MINOR}`,
    [HEADER]: `${service} ${version}`,
    vary: HEADER,
  };
}

/** The minor version that a header asks for: 1 without a header, the newest for "latest". @throws MagnumError 406 */
export function readVersion(header: string | undefined): number {
  if (header === undefined) return MIN_MINOR;
  const words = header.trim().split(/\s+/);
  const [name = "", text = ""] = words;
  const wrong = (what: string) => unrouted(406, "Not Acceptable", `Invalid ${what} for ${HEADER} header`);
  if (words.length !== 2) throw wrong("service type");
  if (text.toLowerCase() === "latest") return MAX_MINOR;
  if (!services.includes(name)) throw wrong("service type");
  const [, major = "", minor = ""] = /^(\d{1,9})\.(\d{1,9})$/.exec(text) ?? [];
  if (major === "") throw wrong("value");
  const version = `${Number(major)}.${Number(minor)}`;
  if (Number(major) !== 1) {
    throw unsupported(
      version,
      `Mutually exclusive versions requested. Version ${version} requested but not supported by this service.The supported version range is: ${range}.`,
    );
  }
  if (Number(minor) < MIN_MINOR || Number(minor) > MAX_MINOR) {
    throw unsupported(
      version,
      `Version ${version} was requested but the minor version is not supported by this service. The supported version range is: ${range}.`,
    );
  }
  return Number(minor);
}

function unsupported(version: string, description: string): MagnumError {
  const entry = {
    code: "magnum.microversion-unsupported",
    title: "Requested microversion is unsupported",
    description,
    max_version: `1.${MAX_MINOR}`,
    min_version: `1.${MIN_MINOR}`,
    links: [{ rel: "help", href: "http://docs.openstack.org/api-guide/compute/microversions.html" }],
  };
  return new MagnumError(406, description, { entry, headers: versionHeaders(version) });
}
