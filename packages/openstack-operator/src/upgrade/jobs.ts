import type { OpenStackService } from "@causeway/api";
import { NORTHBOUND, SOUTHBOUND, uses, type Catalogue } from "../catalogue/index.ts";
import { graphOf } from "../graph/graph.ts";
import { SOUTHBOUND_SYNC } from "../restore/ovn-databases.ts";
import { nameInCell, plainName } from "../model/cell.ts";
import type { Component } from "../model/component.ts";

/**
 * An upgrade is the ordinary order of components with more Jobs in it: checks before anything changes, contraction of
 * schemas and online migrations after the processes of the new release run. Each Job is a step that is a condition of
 * the next, and finished ones remain, so that an upgrade can continue where it stopped.
 */
export function withUpgradeJobs(catalogue: Catalogue): Catalogue {
  const names = new Set(catalogue.components.map(({ name }) => name));
  const inAllCells = (plain: readonly string[]) =>
    catalogue.components.filter((each) => plain.includes(plainName(each))).map(({ name }) => name);
  const checks = checksOf(catalogue);
  const gate = checks.map(({ name }) => name);
  const expanded = catalogue.components.map((component) => {
    const expand = EXPANSIONS[component.name];
    const command = expand ?? component.command;
    const earlier = inAllCells(IN_NOVA_ORDER[plainName(component)] ?? []);
    // Nothing of the new release starts before every check of it has passed.
    const checked = { ...component, command, after: [...(component.after ?? []), ...gate, ...earlier] };
    // A southbound database that is being rebuilt has an order of its own, in which controllers come last.
    return names.has(SOUTHBOUND_SYNC) ? checked : inOvnOrder(checked);
  });
  const later = LATER.flatMap((step) =>
    catalogue.components
      .filter((each) => plainName(each) === step.of)
      .map(({ cell }) => laterJob(catalogue, { ...step, cell, after: inAllCells([step.of]) })),
  );
  const components = [...checks, ...expanded, ...later];
  return { ...catalogue, components, graph: graphOf(components) };
}

/**
 * What comes before a component of Nova in an upgrade alone: Placement, schemas, conductors, scheduler, API, compute
 * nodes. At a first start the order is a looser one, which is faster.
 */
const IN_NOVA_ORDER: Readonly<Record<string, readonly string[]>> = {
  "nova-db-sync": ["placement-api"],
  "nova-scheduler": ["nova-super-conductor", "nova-conductor"],
  "nova-api": ["nova-scheduler"],
  "nova-metadata": ["nova-scheduler"],
  "nova-compute": ["nova-api"],
};

const CONTROLLER = "ovn-controller";

/**
 * Controllers of OVN understand what an older northd writes, and not what a newer one does: they are first, then the
 * databases, and northd last. The databases run already.
 */
function inOvnOrder(component: Component): Component {
  const { name, after = [], connections = [] } = component;
  if (name === CONTROLLER) {
    const known = connections.map((connection) => ({ ...connection, needed: false }));
    return { ...component, after: after.filter((each) => each !== "ovn-northd"), connections: known };
  }
  return name === NORTHBOUND || name === SOUTHBOUND ? { ...component, after: [...after, CONTROLLER] } : component;
}

/** Services that come with a program that says whether their data can be upgraded. */
const CHECKED: readonly OpenStackService[] = [
  "keystone",
  "glance",
  "placement",
  "neutron",
  "nova",
  "cinder",
  "barbican",
  "heat",
  "octavia",
  "designate",
  "manila",
];

/** APIs that a check queries, in addition to the databases. */
const QUERIED: Readonly<Partial<Record<OpenStackService, readonly string[]>>> = {
  nova: ["keystone-api", "placement-api", "cinder-api"],
};

/** The checks run with the new release's image against the databases as they are. */
function checksOf({ components, services }: Catalogue): Component[] {
  return CHECKED.filter((service) => services.has(service)).flatMap((service) => {
    const sync = components.find(({ name }) => name === `${service}-db-sync`);
    if (!sync) return [];
    const apis = components.filter(({ name }) => QUERIED[service]?.includes(name));
    const connections = [...(sync.connections ?? []), ...apis.map(({ name }) => uses(name, "api"))];
    return [
      {
        ...withoutSchemas(sync),
        name: `${service}-upgrade-check`,
        does: `Checks whether the data of ${service} can be upgraded.`,
        command: ["/bin/sh", "/programs/upgrade-check.sh", service],
        programs: ["upgrade-check.sh"],
        lastWords: true,
        // The databases run; were they needed, they would be changed before the checks.
        connections: connections.map((connection) => ({ ...connection, needed: false })),
        after: [],
        rerunWith: [],
      },
    ];
  });
}

/** A Job makes schemas with a program, a password and a check of their beginning that others do not need. */
const withoutSchemas = ({ schemas: _of, secrets: _password, programs: _program, ...job }: Component): Component => job;

const conf = (service: string): string[] => ["--config-dir", `/etc/${service}/${service}.conf.d`];

/** Schemas that can be expanded while processes of the older release run. */
const EXPANSIONS: Readonly<Record<string, readonly string[] | undefined>> = {
  "keystone-db-sync": ["keystone-manage", ...conf("keystone"), "db_sync", "--expand"],
  "glance-db-sync": ["glance-manage", "--config-dir", "/etc/glance/glance.conf.d", "db", "expand"],
  "neutron-db-sync": ["neutron-db-manage", ...conf("neutron"), "upgrade", "--expand"],
};

interface LaterStep {
  /** Component after which it runs, and after all processes of its service on control nodes. */
  readonly of: string;
  readonly name: string;
  readonly does: string;
  readonly command: readonly string[];
  readonly programs?: readonly string[];
}

const LATER: readonly LaterStep[] = [
  {
    of: "keystone-api",
    name: "keystone-contract",
    does: "Removes what only the older release of Keystone needed.",
    command: ["keystone-manage", ...conf("keystone"), "db_sync", "--contract"],
  },
  {
    of: "glance-api",
    name: "glance-contract",
    does: "Migrates Glance's data and removes what only the older release needed.",
    command: ["/bin/sh", "/programs/glance-contract.sh"],
    programs: ["glance-contract.sh"],
  },
  {
    of: "neutron-server",
    name: "neutron-contract",
    does: "Removes what only the older release of Neutron needed.",
    command: ["neutron-db-manage", ...conf("neutron"), "upgrade", "--contract"],
  },
  ...(["placement-api", "nova-compute", "cinder-volume"] as const).map((of) => {
    const service = of.split("-")[0] ?? "";
    return {
      of,
      name: `${service}-online-migrations`,
      does: `Migrates the rows of ${service} until none is left.`,
      command: ["/bin/sh", "/programs/online-migrations.sh", service],
      programs: ["online-migrations.sh"],
    };
  }),
];

/** Rows of a further cell of Nova are migrated by a Job of its own, once the nodes of all cells are of the release. */
interface LaterStepInCell extends LaterStep {
  readonly cell: string | undefined;
  readonly after: readonly string[];
}

function laterJob(
  catalogue: Catalogue,
  { name: plain, does, command, programs, cell, after }: LaterStepInCell,
): Component {
  const service = plain.split("-")[0];
  const name = nameInCell(plain, cell);
  const syncName = name === plain ? `${service}-db-sync` : nameInCell(`${service}-cell-sync`, cell);
  const sync = catalogue.components.find((each) => each.name === syncName);
  const processes = catalogue.components.filter((each) => each.service === service && each.kind === "Deployment");
  if (!sync) throw new TypeError(`${name} has no Job ${syncName} to be made from`);
  return {
    ...withoutSchemas(sync),
    lastWords: true,
    name,
    does,
    command,
    ...(programs ? { programs } : {}),
    after: [...new Set([...after, ...processes.map((each) => each.name)])],
    rerunWith: [syncName],
  };
}
