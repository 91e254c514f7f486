import type { OpenStackService } from "@causeway/api";
import type { Component } from "../model/component.ts";
import { cellDatabases } from "./cells.ts";
import { databaseOf, job, needs } from "./words.ts";

/** The Jobs that make a backup, in the order in which they run one after another. */

/** The Job that reads the Secrets of the deployment itself. */
export const KEYS_BACKUP = "keys-backup";

const programs = ["backup_target.py", "backup.py"];
const python = (program: string, ...args: string[]): string[] => ["/usr/bin/python3", `/programs/${program}`, ...args];

/** A run of mariadb-dump must not push other processes off the node: it streams, and needs little memory. */
const resources = { cpu: "100m", memory: "512Mi" };

const backupJob = (service: OpenStackService, facts: Parameters<typeof job>[1]): Component =>
  job(service, { configuration: [], programs, vault: "backup", runs: "backup", resources, ...facts });

/** Services whose databases are made by a Job of theirs. */
export function servicesWithDatabases(components: readonly Component[]): OpenStackService[] {
  return components.filter(({ name, service }) => name === `${service}-db-init`).map(({ service }) => service);
}

/** The Jobs of one backup: databases of services, OVN's databases where it runs, and the deployment's keys. */
export function backupJobs(components: readonly Component[]): Component[] {
  const hasOvn = components.some(({ name }) => name === "ovn-nb");
  const databases = servicesWithDatabases(components).map((service) =>
    backupJob(service, {
      name: `${service}-db-backup`,
      does: `Dumps the databases of ${service} in one transaction.`,
      image: "mariadb",
      command: python("backup.py", "database", service, ...(service === "nova" ? cellDatabases(components) : [])),
      connections: [needs(databaseOf(service), "mysql")],
      secrets: ["database.admin"],
    }),
  );
  const ovn = (["nb", "sb"] as const)
    .filter(() => hasOvn)
    .map((side) =>
      backupJob("ovn", {
        name: `ovn-${side}-backup`,
        does: `Writes OVN's ${side === "nb" ? "northbound" : "southbound"} database to the backup.`,
        image: "ovn",
        command: python("backup.py", "ovn", side),
        connections: [needs(`ovn-${side}`, "ovsdb")],
      }),
    );
  return [
    ...databases,
    ...ovn,
    backupJob("keystone", {
      name: KEYS_BACKUP,
      does: "Writes passwords, keys and the authority to the backup, encrypted.",
      command: python("backup.py", "keys"),
    }),
    backupJob("keystone", {
      name: "backup-finish",
      does: "Writes the list of a backup's parts, and removes backups that are no longer kept.",
      command: python("backup.py", "finish"),
    }),
  ];
}

/** Names of the files that the Jobs of a backup write. */
export function backupParts(components: readonly Component[]): string[] {
  return components
    .filter(({ runs }) => runs === "backup")
    .flatMap(({ name, service }) =>
      name.endsWith("-db-backup")
        ? [`${service}.sql.gz`]
        : name === KEYS_BACKUP
          ? ["keys.sealed"]
          : /^ovn-.*-backup$/.test(name)
            ? [`${name.slice(0, -"-backup".length)}.db.gz`]
            : [],
    );
}
