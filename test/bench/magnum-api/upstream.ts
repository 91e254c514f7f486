import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../../support/free-ports.ts";
import type { Rows } from "./clusters.ts";
import type { Subject } from "./load.ts";

const DEVCLOUD = process.env["DEVCLOUD_DIR"] ?? "/var/lib/devcloud";
const CONFIG = join(DEVCLOUD, "etc/magnum/magnum.conf");
const SOCKET = join(DEVCLOUD, "run/mysql.sock");
const DATABASE = "causeway_bench_magnum";
/** Of oslo.messaging, without a server. */
const BUS = "fake:///";
const API = "/usr/bin/magnum-api-wsgi";
/** One for each request under way. Of one thread each: with eventlet's locks in it, it hangs with more. */
const PROCESSES = 4;

/** Why Debian's Magnum cannot be measured here; undefined when it can. */
export function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "it needs root";
  return [CONFIG, SOCKET, API].every((file) => existsSync(file))
    ? undefined
    : "tools/devcloud with Magnum does not run on this machine";
}

/**
 * Debian's Magnum API under uwsgi, as its package runs it, configured as devcloud's, on a database of its own in
 * devcloud's MariaDB: no other program has the rows, and no conductor reads them. Its message bus is in its own
 * memory: what it accepts is handed to no conductor, not to devcloud's either, whose clusters they are not.
 */
export async function startUpstream(files: string, rows: Rows): Promise<Subject & { close(): Promise<void> }> {
  sql(`DROP DATABASE IF EXISTS ${DATABASE}; CREATE DATABASE ${DATABASE} CHARACTER SET utf8`);
  const [port = 0] = await freePorts(1);
  const config = join(files, "magnum.conf");
  const text = readFileSync(CONFIG, "utf8")
    .replace(/^port = \d+$/m, `port = ${port}`)
    .replace(/\/magnum\?charset/, `/${DATABASE}?charset`)
    .replace(/^transport_url = .*$/m, `transport_url = ${BUS}`)
    // As ours: the number of clusters decides nothing.
    .concat("\n[quotas]\nmax_clusters_per_project = 1000000\n");
  const changed = [`port = ${port}\n`, DATABASE, `transport_url = ${BUS}\n`];
  if (!changed.every((each) => text.includes(each))) throw new Error(`${CONFIG} is not as expected`);
  writeFileSync(config, text, { mode: 0o600 });
  let child: ChildProcess | undefined;
  const close = async (): Promise<void> => {
    if (child) await ended(child);
    sql(`DROP DATABASE IF EXISTS ${DATABASE}`);
  };
  try {
    const made = spawnSync("/usr/bin/magnum-db-manage", ["--config-file", config, "upgrade"], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`magnum-db-manage: ${made.stderr.slice(-500)}`);
    sql(`USE ${DATABASE}; ${insertions(rows)}`);
    const log = openSync(join(files, "magnum-api.log"), "a", 0o600);
    child = spawn("uwsgi_python3", uwsgi(port, config), { stdio: ["ignore", log, log], env: environment() });
    const url = `http://127.0.0.1:${port}`;
    await serving(url);
    return { name: "upstream", url, processes: [child, ...childrenOf(child)], close };
  } catch (error) {
    await close();
    throw error;
  }
}

function uwsgi(port: number, config: string): readonly string[] {
  const processes = ["--master", "--processes", `${PROCESSES}`, "--threads", "1", "--enable-threads"];
  const application = ["--wsgi-file", API, "--pyargv", `--config-file ${config}`, "--lazy-apps", "--need-app"];
  const ends = ["--die-on-term", "--no-orphans"];
  const http = ["--http-socket", `127.0.0.1:${port}`, "--buffer-size", "65535", "--add-header", "Connection: close"];
  return [...processes, ...application, ...ends, ...http];
}

function childrenOf({ pid }: ChildProcess): readonly { readonly pid: number }[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return children.map((child) => ({ pid: Number(child) }));
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  if (child.exitCode !== null || child.signalCode !== null || !child.kill("SIGTERM")) return;
  await gone;
}

/** Debian's own python, whatever else is on the PATH. */
const environment = () => ({ PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8", no_proxy: "127.0.0.1" });

/** Waits until a server of the API responds at all. */
export async function serving(url: string): Promise<void> {
  for (let i = 0; i < 1800; i++) {
    const code = await fetch(url).then(
      ({ status }) => status,
      () => 0,
    );
    if (code > 0) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${url} does not respond`);
}

function sql(statements: string): void {
  const args = ["--no-defaults", `--socket=${SOCKET}`, "-uroot", "-N", "-B"];
  const { status, stderr } = spawnSync("mariadb", args, { input: statements, encoding: "utf8" });
  if (status !== 0) throw new Error(`mariadb: ${stderr.slice(0, 500)}`);
}

/** As its conductor leaves a cluster of two node groups that is complete. */
function insertions({ clusters, templateUUID, projectID, userID }: Rows): string {
  const quoted = (value: string | number | null): string =>
    value === null ? "NULL" : typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
  const insert = (table: string, rows: readonly Readonly<Record<string, string | number | null>>[]): string => {
    const columns = Object.keys(rows[0] ?? {}).map((name) => `\`${name}\``);
    const values = rows.map((row) => `(${Object.values(row).map(quoted).join(",")})`);
    return `INSERT INTO \`${table}\` (${columns.join(",")}) VALUES ${values.join(",")};\n`;
  };
  const created_at = "2026-01-01 00:00:00";
  const common = { created_at, project_id: projectID };
  const template = {
    ...common,
    uuid: templateUUID,
    name: "bench",
    user_id: userID,
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
    coe: "kubernetes",
    cluster_distro: "fedora-coreos",
    network_driver: "calico",
    labels: JSON.stringify({ kube_tag: "v1.34.0" }),
    tls_disabled: 0,
    public: 0,
    registry_enabled: 0,
    server_type: "vm",
    master_lb_enabled: 0,
    floating_ip_enabled: 1,
    hidden: 0,
  };
  const own = clusters.map(({ uuid, name, labels }) => ({
    ...common,
    uuid,
    name,
    user_id: userID,
    cluster_template_id: templateUUID,
    api_address: "https://198.51.100.10:6443",
    stack_id: randomUUID(),
    status: "CREATE_COMPLETE",
    status_reason: "Stack CREATE completed successfully",
    discovery_url: null,
    create_timeout: 60,
    coe_version: "v1.34.0",
    keypair: null,
    labels: JSON.stringify(labels),
    flavor_id: "m1.small",
    master_flavor_id: null,
    health_status: "HEALTHY",
    health_status_reason: JSON.stringify({ api: "ok" }),
    floating_ip_enabled: 1,
    master_lb_enabled: 0,
  }));
  const groups = clusters.flatMap(({ uuid, labels, nodes }) =>
    ["master", "worker"].map((role) => ({
      ...common,
      uuid: randomUUID(),
      name: `default-${role}`,
      cluster_id: uuid,
      labels: JSON.stringify(labels),
      flavor_id: "m1.small",
      image_id: "cirros",
      node_addresses: JSON.stringify(role === "master" ? ["198.51.100.10"] : addressesOf(nodes)),
      node_count: role === "master" ? 1 : nodes,
      min_node_count: 1,
      role,
      is_default: 1,
      stack_id: randomUUID(),
      status: "CREATE_COMPLETE",
    })),
  );
  return insert("cluster_template", [template]) + insert("cluster", own) + insert("nodegroup", groups);
}

export const addressesOf = (nodes: number): readonly string[] =>
  Array.from({ length: nodes }, (_, at) => `10.0.0.${at + 10}`);
