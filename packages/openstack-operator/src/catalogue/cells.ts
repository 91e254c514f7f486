import type { OpenStackDeploymentSpec } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { cellOf, cellResource, FIRST_CELL, furtherCell, nameInCell } from "../model/cell.ts";
import type { Component } from "../model/component.ts";
import { brokerOf, databaseOf, job, makesSchemas, needs, uses } from "./words.ts";

/** Further cells of Nova: each has a database, a virtual host of the broker, conductors, a proxy and compute nodes. */

const CONFIG = ["--config-dir", "/etc/nova/nova.conf.d"];
const SHELL = "nova-cell.sh";

const mapping = (cell: string, resource: string) => ["/bin/sh", `/programs/${SHELL}`, "map", cell, resource];

/** They read the list of cells once, when they start. */
const READERS: ReadonlySet<string> = new Set(["nova-super-conductor", "nova-scheduler", "nova-api", "nova-metadata"]);

/** Nova's components with those of further cells. Without further cells they are the same as before. */
export function withCells(components: readonly Component[], spec: OpenStackDeploymentSpec): Component[] {
  const cells = (spec.cells ?? []).map(({ name }) => name);
  refuseUnknown(spec, cells);
  if (cells.length === 0) return [...components];
  const byName = new Map(components.map((component) => [component.name, component]));
  const known = components.map((component): Component => {
    // Each process fills the templates of mappings in from its own configuration, which is that of its own cell.
    if (component.name === "nova-cell-map") return { ...component, command: mapping(FIRST_CELL, "nova") };
    if (!READERS.has(component.name)) return component;
    const mapped = cells.map((cell) => nameInCell("nova-cell-map", cell));
    return { ...component, cells, after: [...(component.after ?? []), ...mapped] };
  });
  const own = cells.flatMap((cell) => componentsOf(cell, byName));
  const last = known.findLastIndex(({ service }) => service === "nova");
  return [...known.slice(0, last + 1), ...own, ...known.slice(last + 1)];
}

function componentsOf(cell: string, byName: ReadonlyMap<string, Component>): Component[] {
  const named = (name: string) => nameInCell(name, cell);
  const schemas = [named("nova-cell-map"), named("nova-cell-sync"), named("nova-broker-init")];
  const process = (name: string, more: (first: Component) => Partial<Component>): Component[] => {
    const first = byName.get(name);
    return first ? [{ ...first, name: named(name), cell, ...more(first) }] : [];
  };
  if (!byName.has("nova-db-init")) return [];
  return [
    ...jobsOf(cell),
    ...process("nova-conductor", ({ after = [] }) => ({
      does: `Conductor of the cell ${cell}.`,
      after: [...after, ...schemas],
    })),
    ...process("nova-novncproxy", ({ after = [], ports = [] }) => ({
      does: `Consoles of servers of the cell ${cell} in a browser.`,
      ports: ports.map((port) => ({ ...port, publicName: `${port.publicName}-${cell}` })),
      after: [...after, ...schemas],
    })),
    ...process("nova-compute", ({ after = [] }) => ({
      does: `Runs servers on a compute node of the cell ${cell}.`,
      after: after.map((name) => (name === "nova-conductor" ? named(name) : name)),
    })),
    job("nova", {
      name: named("nova-discover-hosts"),
      cell,
      does: `Maps new compute nodes to the cell ${cell}.`,
      command: ["/bin/sh", `/programs/${SHELL}`, "discover", cell],
      connections: [needs(databaseOf("nova"), "mysql"), uses(brokerOf("nova"), "amqp")],
      after: [named("nova-compute"), named("nova-cell-map")],
      rerunWith: [named("nova-cell-map"), "compute-nodes"],
      programs: [SHELL],
    }),
  ];
}

/** What a cell consists of before its processes start. It is mapped last: APIs query each cell that is. */
function jobsOf(cell: string): Component[] {
  const named = (name: string) => nameInCell(name, cell);
  const resource = cellResource(cell);
  return [
    job("nova", {
      name: named("nova-db-init"),
      cell,
      does: `Creates the database of the cell ${cell} for Nova's accounts.`,
      image: "mariadb",
      command: ["/bin/sh", "/programs/nova-cell-database.sh", resource],
      configuration: [],
      connections: [needs(databaseOf("nova"), "mysql")],
      after: ["nova-db-init"],
      rerunWith: ["nova-db-init"],
      secrets: ["nova.database", "database.admin"],
      programs: ["nova-cell-database.sh"],
    }),
    job("nova", {
      name: named("nova-broker-init"),
      cell,
      does: `Creates the virtual host of the cell ${cell} for Nova's accounts.`,
      image: "keystone",
      command: ["/usr/bin/python3", "/programs/broker-init.py", "nova", resource],
      configuration: [],
      connections: [needs(brokerOf("nova"), "management")],
      after: ["nova-broker-init"],
      rerunWith: ["nova-broker-init"],
      secrets: ["nova.broker", "broker.admin"],
      programs: ["broker-init.py", "first_request.py"],
    }),
    job("nova", {
      name: named("nova-cell-sync"),
      cell,
      does: `Brings the schema of the cell ${cell} to the release.`,
      command: ["nova-manage", ...CONFIG, "db", "sync", "--local_cell"],
      ...makesSchemas("nova", [resource]),
      connections: [needs(databaseOf("nova"), "mysql")],
      after: [named("nova-db-init"), "nova-cell-sync"],
      rerunWith: [named("nova-db-init"), "nova-cell-sync"],
    }),
    job("nova", {
      name: named("nova-cell-map"),
      cell,
      does: `Maps the cell ${cell} to its database and its virtual host.`,
      command: mapping(cell, resource),
      connections: [needs(databaseOf("nova"), "mysql")],
      after: ["nova-cell-map", named("nova-cell-sync"), named("nova-broker-init")],
      rerunWith: ["nova-cell-map"],
      programs: [SHELL],
    }),
  ];
}

/** A group in a cell that is not there would have no conductor, and one without servers is in none. */
function refuseUnknown({ nodeGroups }: OpenStackDeploymentSpec, cells: readonly string[]): void {
  const known = new Set([FIRST_CELL, ...cells]);
  for (const group of nodeGroups) {
    const cell = cellOf(group);
    if (!known.has(cell))
      throw new CausewayError("OPENSTACK_CELL_UNKNOWN", `group ${group.name} is in ${cell}, which is no cell`, {
        hint: `The cells are ${[...known].join(", ")}: add ${cell} to spec.cells, or correct the group's cell in spec.nodeGroups.`,
      });
    if (group.cell !== undefined && !group.roles.includes("Compute"))
      throw new CausewayError("OPENSTACK_CELL_UNKNOWN", `group ${group.name} is in ${cell} and runs no servers`, {
        hint: "Add the role Compute to the group, or remove its cell.",
      });
  }
}

/** Databases of further cells, in addition to those that every deployment has. */
export const cellDatabases = (components: readonly Component[]): string[] =>
  components.flatMap((component) => (furtherCell(component) === undefined ? [] : (component.schemas ?? [])));
