import { messageOf } from "@causeway/foundation";
import { parse } from "yaml";
import { invalid, readFile, readRules } from "../settings.ts";
import type { TunnelTenant } from "../tenants/tenants.ts";
import { MOST_STREAMS, type Reviewer } from "./only-tenant.ts";

const LARGEST_FILE = 4 * 1024 * 1024;

/**
 * The tenants of a YAML file: a list `tenants` of name, udsName, serverCaCert, agentCaCert, serverNames, authentication
 * (kubeconfig, namespace, serviceAccount, audience), allow, deny (CIDRs), names and maxStreams. Paths are of PEM files.
 * @throws TUNNEL_CONFIG_INVALID
 */
export function readTenants(path: string, review: Reviewer): TunnelTenant[] {
  const text = readFile(path, "the tenants");
  if (text.length > LARGEST_FILE) throw invalid(`${path} has more than ${LARGEST_FILE} bytes`);
  let root: unknown;
  try {
    root = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw invalid(`${path} is not YAML: ${messageOf(error)}`);
  }
  const list = fieldOf(root, "tenants");
  if (!Array.isArray(list)) throw invalid(`${path} has no list "tenants"`);
  const tenants = list.map((each: unknown, at) => readTenant(each, `tenants[${at}]`, review));
  const names = tenants.map(({ name }) => name);
  const double = names.find((name, at) => names.indexOf(name) !== at);
  if (double !== undefined) throw invalid(`tenant ${double} is listed twice`);
  return tenants;
}

const FIELDS = [
  "name",
  "udsName",
  "serverCaCert",
  "agentCaCert",
  "serverNames",
  "authentication",
  "allow",
  "deny",
  "names",
  "maxStreams",
];

function readTenant(value: unknown, at: string, review: Reviewer): TunnelTenant {
  const unknown = Object.keys(value ?? {}).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) throw invalid(`${at} has an unknown field "${unknown}"`);
  const text = (name: string): string => {
    const found = fieldOf(value, name) ?? "";
    if (typeof found !== "string") throw invalid(`${at}.${name} is not a string`);
    return found;
  };
  const texts = (name: string): string[] | undefined => {
    const found = fieldOf(value, name);
    if (found === undefined || found === null) return undefined;
    if (!Array.isArray(found) || !found.every((each) => typeof each === "string")) {
      throw invalid(`${at}.${name} is not a list of strings`);
    }
    return found;
  };
  const name = text("name");
  if (!/^[a-z0-9]([a-z0-9./-]{0,251}[a-z0-9])?$/.test(name)) throw invalid(`${at}.name is not a name of a tenant`);
  const maxStreams = fieldOf(value, "maxStreams") ?? MOST_STREAMS;
  if (typeof maxStreams !== "number" || !Number.isInteger(maxStreams) || maxStreams < 1) {
    throw invalid(`${at}.maxStreams is not a positive number`);
  }
  const authentication = fieldOf(value, "authentication");
  const token = (field: string): string => {
    const found = fieldOf(authentication, field);
    return typeof found === "string" ? found : "";
  };
  const reviewToken =
    authentication === undefined
      ? undefined
      : review({
          kubeconfig: token("kubeconfig"),
          namespace: token("namespace"),
          serviceAccount: token("serviceAccount"),
          audience: token("audience"),
        });
  const authority = (field: string): string[] => (text(field) === "" ? [] : [readFile(text(field), `${at}.${field}`)]);
  return {
    name,
    ...(text("udsName") === "" ? {} : { udsName: text("udsName") }),
    serverAuthorities: authority("serverCaCert"),
    agentAuthorities: authority("agentCaCert"),
    serverNames: texts("serverNames") ?? [],
    ...(reviewToken && { reviewToken }),
    rules: readRules({ allow: texts("allow"), deny: texts("deny"), names: texts("names") }),
    maxStreams,
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
