import { messageOf, readTextFile, InputError } from "@causeway/foundation";
import { controllerNames, type ControllerName } from "@causeway/cloud-controller-manager";
import { parse } from "yaml";
import { controllerNamed } from "./controller-names.ts";

/**
 * Which controllers are led by the cluster's own Lease, and which by the one shared with the controller they come from.
 */
export interface Migration {
  /** Name of the shared Lease. */
  readonly leaseName: string;
  /** The controllers that only the holder of that Lease runs. */
  readonly migrated: ReadonlySet<ControllerName>;
  /** Left to the other component. */
  readonly others: ReadonlySet<ControllerName>;
}

const component = "cloud-controller-manager";
const defaultName = "cloud-provider-extraction-migration";

/**
 * Leader migration as kube-controller-manager knows it (controllermanager.config.k8s.io, LeaderMigrationConfiguration):
 * both programs hold one Lease for the controllers that move, so that never two of them run. Without a file: route,
 * service and cloud-node-lifecycle move. Throws LEADER_MIGRATION_INVALID.
 */
export function readMigration(path: string | undefined): Migration {
  if (path === undefined) {
    const migrated = new Set(controllerNames.filter((name) => name !== "cloud-node"));
    return { leaseName: defaultName, migrated, others: new Set() };
  }
  const document = record(parseFile(path));
  if (document["kind"] !== "LeaderMigrationConfiguration")
    throw invalid(path, "it is not a LeaderMigrationConfiguration");
  const lock = document["resourceLock"] ?? "leases";
  if (lock !== "leases") throw invalid(path, "resourceLock is not leases");
  const leaders = Array.isArray(document["controllerLeaders"]) ? document["controllerLeaders"].map(record) : [];
  const migrated = new Set<ControllerName>();
  const others = new Set<ControllerName>();
  for (const leader of leaders) {
    const name = controllerNamed(String(leader["name"]));
    // Controllers that only the other program has are its own affair.
    if (name === undefined) continue;
    (leader["component"] === component || leader["component"] === "*" ? migrated : others).add(name);
  }
  const leaseName = typeof document["leaderName"] === "string" ? document["leaderName"] : defaultName;
  return { leaseName, migrated, others };
}

function parseFile(path: string): unknown {
  try {
    return parse(readTextFile(path, 1024 * 1024), { uniqueKeys: false });
  } catch (cause) {
    throw invalid(path, messageOf(cause).split("\n")[0] ?? "");
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function invalid(path: string, why: string): InputError {
  return new InputError("LEADER_MIGRATION_INVALID", `${path} cannot be used for the migration: ${why}.`, {
    hint: "Specify kube-controller-manager's own file: a LeaderMigrationConfiguration with leaderName and controllerLeaders.",
  });
}
