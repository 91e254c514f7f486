import { InputError, isRecord, messageOf } from "@causeway/foundation";
import { parse } from "yaml";
import type { RoleMapping } from "../token/plan-identity.ts";
import { record, text, texts } from "../values.ts";

const DATA_TYPES = ["projects", "role_assignments"] as const;
type DataType = (typeof DATA_TYPES)[number];

/** What is kept in the cluster as it is in Keystone; fields as in upstream's sync configuration. */
export interface SyncConfig {
  readonly dataTypes: readonly DataType[];
  /** With %i (project id; required), %n (project name), %d (id of the user's domain). */
  readonly namespaceFormat: string;
  readonly excludedProjects: readonly string[];
  readonly excludedProjectNames: readonly string[];
  readonly roleMappings: readonly RoleMapping[];
}

/** Nothing is synchronised: the configuration of a cluster without one. */
export const NO_SYNC: SyncConfig = {
  dataTypes: [],
  namespaceFormat: "%i",
  excludedProjects: [],
  excludedProjectNames: [],
  roleMappings: [],
};

const FORMAT = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*[a-zA-Z0-9]$/;
const LONGEST = 256 * 1024;

/** Reads the YAML of a sync configuration. @throws KEYSTONE_SYNC_INVALID */
export function readSyncConfig(yaml: string): SyncConfig {
  if (yaml.length > LONGEST) throw invalid(`it is larger than ${LONGEST} bytes`);
  let value: unknown;
  try {
    value = parse(yaml, { maxAliasCount: 10, prettyErrors: false, logLevel: "error" });
  } catch (error) {
    throw invalid(`it is not YAML: ${messageOf(error)}`);
  }
  if (value !== null && value !== undefined && !isRecord(value)) throw invalid("it is not a mapping");
  const given = record(value);
  const namespaceFormat = text(given["namespace-format"]) || "%i";
  checkFormat(namespaceFormat);
  return {
    dataTypes: texts(given["data-types-to-sync"]).map(dataType),
    namespaceFormat,
    excludedProjects: texts(given["projects-blacklist"]),
    excludedProjectNames: texts(given["projects-name-blacklist"]),
    roleMappings: mappingsOf(given["role-mappings"]),
  };
}

function invalid(why: string): InputError {
  return new InputError("KEYSTONE_SYNC_INVALID", `The sync configuration cannot be used: ${why}.`, {
    hint: "Fix it; docs/reference/keystone-auth.md has its fields.",
  });
}

function checkFormat(format: string): void {
  if (!format.includes("%i")) throw invalid("namespace-format needs %i, the id of the Keystone project");
  if (!FORMAT.test(format.replaceAll(/%[ind]/g, "aa")))
    throw invalid("namespace-format may have letters, digits, -, _ and ., and begins and ends with a letter or digit");
}

function dataType(name: string): DataType {
  const known = DATA_TYPES.find((type) => type === name);
  if (known === undefined) throw invalid(`data-types-to-sync has "${name}"; it may have ${DATA_TYPES.join(", ")}`);
  return known;
}

function mappingsOf(value: unknown): readonly RoleMapping[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("role-mappings is not a list");
  return value.map((entry: unknown, i): RoleMapping => {
    const mapping = record(entry);
    const [keystoneRole, username] = [text(mapping["keystone-role"]), text(mapping["username"])];
    if (keystoneRole === "") throw invalid(`role-mappings[${i}] has no keystone-role`);
    return { keystoneRole, groups: texts(mapping["groups"]), ...(username !== "" && { username }) };
  });
}
