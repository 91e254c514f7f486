import type { OpenStackDeployment } from "@causeway/api";
import { cellDatabases, databaseOf, job, needs, servicesWithDatabases, type Catalogue } from "../catalogue/index.ts";
import { graphOf } from "../graph/graph.ts";
import { plainName } from "../model/cell.ts";
import type { Component } from "../model/component.ts";

/**
 * A restore is the ordinary order of components with more Jobs in it: databases get their data between their creation
 * and the first change of their schema, OVN's northbound database before anything reads it. Passwords and keys come
 * before everything: `keysJob`.
 */
export function withRestoreJobs(catalogue: Catalogue): Catalogue {
  const databases = servicesWithDatabases(catalogue.components);
  const names = new Set(catalogue.components.map(({ name }) => name));
  const restoring = databases.map((service) =>
    restoreJob(service, {
      name: `${service}-db-restore`,
      does: `Restores the databases of ${service} from a backup.`,
      image: "mariadb",
      command: python("database", service, ...(service === "nova" ? cellDatabases(catalogue.components) : [])),
      connections: connectionsOf(catalogue, service),
      after: catalogue.components.filter((each) => plainName(each) === `${service}-db-init`).map(({ name }) => name),
      secrets: ["database.admin"],
    }),
  );
  const network = names.has("ovn-nb")
    ? [
        restoreJob("ovn", {
          name: "ovn-nb-restore",
          does: "Restores OVN's northbound database, from which the southbound one follows.",
          image: "ovn",
          command: python("ovn", "nb"),
          connections: [needs("ovn-nb", "ovsdb")],
        }),
        ...(names.has("neutron-server") ? [syncJob(catalogue)] : []),
      ]
    : [];
  const changed = catalogue.components.map((component) => withEdges(component, network.length > 0));
  const components = [keysJob, ...changed, ...restoring, ...network];
  return { ...catalogue, components, graph: graphOf(components) };
}

const python = (...args: string[]): string[] => ["/usr/bin/python3", "/programs/restore.py", ...args];

const restoreJob = (service: Component["service"], facts: Parameters<typeof job>[1]): Component =>
  job(service, {
    configuration: [],
    programs: ["backup_target.py", "backup.py", "restore.py"],
    vault: "restore",
    resources: { cpu: "100m", memory: "512Mi" },
    ...facts,
  });

/** The Secret that a restore's passwords and keys arrive in. */
export const RESTORED_KEYS = "restored-keys";

/** Runs before there is any password: it needs nothing of the deployment. */
const keysJob: Component = restoreJob("keystone", {
  name: "restore-keys",
  does: "Decrypts passwords, keys and the authority of a backup.",
  command: python("keys"),
  writesSecret: RESTORED_KEYS,
});

/** The service's database cluster in place of "the database of this service"; none: it is not run by the operator. */
function connectionsOf({ databases }: Catalogue, service: Component["service"]) {
  const to = databases.get(service);
  return typeof to === "string" ? [needs(to, "mysql")] : to === undefined ? [needs(databaseOf(service), "mysql")] : [];
}

const PROGRAM = "ovn-sync.py";
/** The Job that repairs OVN's northbound database from Neutron's. */
export const SYNC = "neutron-ovn-sync";

/** What is in Neutron's database and not in OVN's, or the other way round, is repaired from Neutron's. */
export function syncJob({ components }: Catalogue): Component {
  const server = components.find(({ name }) => name === "neutron-server");
  return job("neutron", {
    name: SYNC,
    does: "Repairs OVN's northbound database from Neutron's.",
    command: ["/usr/bin/python3", `/programs/${PROGRAM}`, "--config-dir", CONFIG, "--ovn-neutron_sync_mode", "repair"],
    connections: server?.connections ?? [],
    environment: server?.environment ?? {},
    programs: [...(server?.programs ?? []).filter((name) => name.endsWith(".py")), PROGRAM],
    demandsMainFile: true,
    after: ["neutron-server"],
  });
}

const CONFIG = "/etc/neutron/neutron.conf.d";

function withEdges(component: Component, hasNetwork: boolean): Component {
  const { name, service, after = [] } = component;
  if (name === `${service}-db-sync`) return { ...component, after: [...after, `${service}-db-restore`] };
  if (name === "ovn-northd" && hasNetwork) return { ...component, after: [...after, "ovn-nb-restore"] };
  return component;
}

/** Which backup a deployment is restored from; undefined: from none. */
export function restoreIdOf({ metadata, spec }: OpenStackDeployment): string | undefined {
  return spec.restore && `${spec.restore.deployment ?? metadata.name}/${spec.restore.from}`;
}

/** Is a restore wanted that has not come to its end? */
export function isRestoring(deployment: OpenStackDeployment): boolean {
  const id = restoreIdOf(deployment);
  const { from, completedAt } = deployment.status?.restore ?? {};
  return id !== undefined && (from !== id || completedAt === undefined);
}
