/**
 * The order of folders inside the larger packages. `checkFolderOrder` holds every import of their sources, types and
 * imports at run time included, against it: a file may import from its own folder and from folders before it. Within a
 * folder at most four files may import each other in a cycle.
 */
import { readdirSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { importsIn, parsedFile } from "./parsed.ts";

/** By package: folders (and files outside folders), lowest first. A name that is missing here is a finding. */
export const folderOrder: Readonly<Record<string, readonly string[]>> = {
  apiserver: [
    "bounds.ts lazy-imports.ts lazily.ts",
    "json",
    "errors",
    "syntax",
    "store schema",
    "wire",
    "patch",
    "contract",
    "tables auth flow webhooks kubelets",
    "metrics conversion registry",
    "definitions",
    "admission",
    "kinds",
    "encryption controllers discovery backup usage",
    "aggregation",
    "server",
    "audit",
    "interface.ts",
    "local",
    "clusters",
    "isolation",
    "start.ts",
    "index.ts",
  ],
  "cluster-api-openstack": [
    "admission identity",
    "resources",
    "reactions",
    "openstackcluster",
    "openstackmachine",
    "openstackserver floatingippool openstackmachinetemplate",
    "dry-run",
    "explain sweep",
    "sources.ts",
    "infrastructure.ts",
    "index.ts",
  ],
  "octavia-ingress": [
    "reported.ts pool-record config certificates",
    "objects",
    "names.ts",
    "balancer",
    "ingress",
    "gateway",
    "octavia-ingress.ts",
    "index.ts",
  ],
  csi: [
    "endpoint.ts errors.ts operations.ts protocol.generated.ts registration.generated.ts",
    "client.ts sanitize.ts services.ts",
    "server.ts",
    "local.ts registration.ts",
    "index.ts",
  ],
  "cloud-controller-manager": [
    "config events rate-limited-refresh.ts",
    "metrics",
    "service",
    "node route",
    "manager.ts release.ts",
    "sweep",
    "index.ts",
  ],
  "cluster-api": [
    "contract variables",
    "gotemplate runtime",
    "objects",
    "topology",
    "clusterclass",
    "admission",
    "machine",
    "machineset",
    "machinedeployment machinehealthcheck machinepool kubeadm-config kubeadmcontrolplane",
    "clusterresourceset csr-approver cluster extensionconfig",
    "move",
    "cluster-api.ts",
    "index.ts",
  ],
  openstack: [
    "errors",
    "config",
    "types",
    "http",
    "session",
    "services",
    "connect.ts identity.ts identity-client.ts",
    "tokens application-credentials.ts",
    "watch",
    "pool.ts",
    "contract",
    "index.ts",
    "testing.ts",
  ],
  simulator: [
    "kernel",
    "interface.ts",
    "identity",
    "cloud image",
    "compute",
    "metadata shares key-manager object-store orchestration container-infra",
    "network",
    "load-balancing placement storage",
    "data-path",
    "start.ts",
    "index.ts",
    "testing-client.ts",
  ],
  "workload-controllers": [
    "context.ts",
    "model",
    "objects",
    "attachdetach attributesclass deployment disruption horizontal endpoints endpointslice endpointslicemirroring ephemeralvolume job nodeipam nodelifecycle",
    "cronjob persistentvolume podgc replicaset statefulset ttlafterfinished volumeclaim",
    "scheduler",
    "daemonset",
    "workload-controllers.ts",
    "index.ts",
  ],
  "openstack-operator": [
    "model",
    "credentials graph",
    "catalogue",
    "config",
    "programs restore",
    "upgrade",
    "render",
    "admission deployment maintenance",
    "operator.ts preview.ts",
    "index.ts",
  ],
  api: [
    "kind.ts names.ts lenses descriptions",
    "columns.ts",
    "schema",
    "versions",
    "addons bootstrap cluster",
    "controlplane",
    "runtime ipam infrastructure openstack magnum",
    "managed",
    "index.ts",
  ],
  "magnum-api": [
    "wire",
    "access audit-event.ts",
    "cluster",
    "state",
    "call",
    "resources",
    "audit probe",
    "server",
    "magnum-api.ts settings",
    "index.ts",
  ],
  "magnum-migration": [
    "database inventory workloads",
    "record masters",
    "phase.ts transient.ts",
    "etcd",
    "phases",
    "run",
    "index.ts",
  ],
  "hosted-control-plane": [
    "at-rest.ts audit-log.ts flags.ts backup-spec.ts named-servers.ts program-log.ts rounds.ts versions.ts etcd",
    "runtime.ts",
    "audit-sink.ts issuers.ts",
    "backup",
    "process",
    "pods",
    "webhooks tunnel",
    "api-metrics.ts",
    "audit-delivery believed",
    "controlplane",
    "embedded.ts",
    "runtimes.ts",
    "index.ts",
  ],
  causeway: [
    "fleet magnum workloads release.ts",
    "composition",
    "options terminal backups",
    "clusters",
    "command-line.ts credential-plugin",
    "commands",
    "program.ts",
    "index.ts main.ts snapshot.ts",
  ],
  kubernetes: [
    "types",
    "admission",
    "config",
    "client",
    "cache",
    "controller status",
    "events",
    "election",
    "shards",
    "remote",
    "index.ts",
  ],
};

/** The most files of one folder that may import each other in a cycle. */
const LARGEST_CYCLE = 4;

/** A package with more lines than this has an order. */
const LARGE = 5_000;

/** Every import that goes up, every cycle that is too large, and every folder or large package without a place. */
export function checkFolderOrder(root: string, orders = folderOrder): string[] {
  const packages = join(root, "packages");
  const large = readdirSync(packages)
    .filter((name) => orders[name] === undefined && linesOf(join(packages, name, "src")) > LARGE)
    .map((name) => `packages/${name}: has more than ${LARGE} lines; add its folders to scripts/folder-order.ts`);
  return [...large, ...ordered(root, orders)];
}

/** Lines of the sources of a package, without tests. */
function linesOf(source: string): number {
  return [...importsOf(source).keys()].reduce(
    (sum, file) => sum + parsedFile(join(source, file)).text.split("\n").length,
    0,
  );
}

function ordered(root: string, orders: typeof folderOrder): string[] {
  return Object.entries(orders).flatMap(([name, order]) => {
    const imports = importsOf(join(root, "packages", name, "src"));
    return [...upward(name, order, imports), ...cycles(name, imports)];
  });
}

/** What each file of a package imports of it; both relative to its sources. */
type Imports = ReadonlyMap<string, readonly string[]>;

function importsOf(source: string): Imports {
  const found = new Map<string, string[]>();
  for (const entry of readdirSync(source, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(source, file);
    if (!entry.isFile() || !path.endsWith(".ts") || /\.test\.ts$|(^|\/)(testing|scenarios|examples)\//.test(path))
      continue;
    const specifiers = importsIn(file).map(({ specifier }) => specifier);
    const targets = specifiers.filter((s) => s.startsWith(".")).map((s) => relative(source, resolve(file, "..", s)));
    found.set(path, targets);
  }
  return found;
}

function upward(name: string, order: readonly string[], imports: Imports): string[] {
  const rank = new Map(order.flatMap((names, i) => names.split(" ").map((n) => [n, i] as const)));
  const folderOf = (file: string): string => file.split(sep)[0] ?? "";
  const problems: string[] = [];
  for (const [file, targets] of imports) {
    const from = folderOf(file);
    const own = rank.get(from);
    if (own === undefined) {
      problems.push(
        `packages/${name}/src/${from}: has no place in the order of folders; add it to scripts/folder-order.ts`,
      );
      continue;
    }
    for (const target of targets) {
      const to = folderOf(target);
      if (to !== from && (rank.get(to) ?? -1) >= own)
        problems.push(`packages/${name}/src/${file}: may not import ${target}: ${to} does not come before ${from}`);
    }
  }
  return problems;
}

function cycles(name: string, imports: Imports): string[] {
  return components(imports)
    .filter((files) => files.length > LARGEST_CYCLE)
    .map((files) => `packages/${name}/src: ${files.length} files import each other in a cycle: ${files.join(", ")}`);
}

/** Strongly connected components (Tarjan). */
function components(imports: Imports): string[][] {
  const found: string[][] = [];
  const path: string[] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.size - 1);
    path.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!imports.has(target)) continue;
      if (!index.has(target)) visit(target);
      if (path.includes(target)) low.set(file, Math.min(low.get(file) ?? 0, low.get(target) ?? 0));
    }
    if (low.get(file) !== index.get(file)) return;
    found.push(path.splice(path.indexOf(file)));
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return found;
}
