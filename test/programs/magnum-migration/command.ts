/** The command itself, as operators run it: with files, a shell of the masters and a client of Magnum's database. */
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMagnumDatabase, type MagnumDatabase } from "@causeway/magnum-migration";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import type { Simulator } from "@causeway/simulator";
import { parse, stringify } from "yaml";
import { launch } from "../run.ts";
import type { Masters } from "./masters.ts";
import { startLaps } from "./laps.ts";
import { UUID } from "./names.ts";

const MAIN = resolve(import.meta.dirname, "../../../packages/causeway/src/main.ts");

export interface CommandOptions {
  /** SIGKILL after so many steps were printed; the step that was printed last may be done or not. */
  readonly killAfter?: number;
  readonly more?: readonly string[];
}

export interface Ended {
  readonly isKilled: boolean;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Command {
  readonly command: (phase: string, options?: CommandOptions) => Promise<Ended>;
  readonly old: () => Promise<{ rows: readonly number[]; hasTrustee: boolean }>;
  /** What retire needs of the old Magnum. */
  readonly magnum: { readonly admin: Cloud; readonly database: MagnumDatabase };
  close(): void;
}

interface Parts {
  readonly simulator: Simulator;
  readonly masters: Masters;
  /** Kubeconfigs of the management cluster and of the cluster that is migrated. */
  readonly kubeconfig: string;
  readonly source: string;
}

export async function openCommand(dir: string, { simulator, masters, kubeconfig, source }: Parts): Promise<Command> {
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const { clouds } = parse(simulator.cloudsYaml) as { clouds: Record<string, Record<string, unknown>> };
  const container_infrastructure_management_endpoint_override = `${new URL(simulator.authUrl).origin}/container-infra/v1`;
  const changed = Object.entries(clouds).map(([name, entry]) => [
    name,
    { ...entry, container_infrastructure_management_endpoint_override },
  ]);
  const env = {
    OS_CLIENT_CONFIG_FILE: file("clouds.yaml", stringify({ clouds: Object.fromEntries(changed) as object })),
  };
  const shell = await openShell(masters);
  const base = [
    "--cloud=simulator",
    `--kubeconfig=${file("management", kubeconfig)}`,
    `--source-kubeconfig=${file("source", source)}`,
    `--etcd-urls=${masters.etcdUrls.join(",")}`,
    "--admin-cloud=simulator-admin",
    `--magnum-sql=${process.execPath} ${file("sql.mjs", SQL)} ${join(dir, "magnum.db")}`,
    `--machine-shell=${process.execPath} ${file("shell.mjs", SHELL)} ${shell.port} {address}`,
  ];
  const admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text: simulator.cloudsYaml }));
  const demo = connectCloud(loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml }));
  const trustee = await admin.identity.users.create({ name: `${UUID}_trustee`, password: "secret" });
  const roles = await admin.identity.roles.all({ name: "member" });
  const trust = await demo.identity.trusts.create({
    trustor_user_id: await demo.identity.currentUserId(),
    trustee_user_id: trustee.id,
    project_id: await demo.projectId(),
    impersonation: true,
    roles: roles.map(({ name }) => ({ name })),
  });
  await demo.close();
  const database = join(dir, "magnum.db");
  seed(database, { trust: trust.id, trustee: trustee.id });
  const rows = createMagnumDatabase(`${process.execPath} ${file("sql.mjs", SQL)} ${database}`);
  return {
    async command(phase, { killAfter = Number.POSITIVE_INFINITY, more = [] } = {}) {
      const args = [MAIN, "migrate", "magnum", phase, "web", ...base, ...more];
      const lap = startLaps();
      const running = launch(process.execPath, args, { env });
      let isKilled = false;
      let text = "";
      running.child.stderr?.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
        lap.line(chunk.toString("utf8").trim());
        const steps = text.split("\n").filter((line) => line !== "" && !line.startsWith("waiting")).length;
        if (steps < killAfter || isKilled) return;
        isKilled = true;
        running.child.kill("SIGKILL");
      });
      const { code, stdout, stderr } = await running.ended;
      lap.end(`${phase}${isKilled ? " (killed)" : ""}`);
      return { isKilled, code, stdout, stderr };
    },
    async old() {
      const open = new DatabaseSync(database);
      const counts = ["cluster", "nodegroup", "x509keypair"].map(
        (table) => (open.prepare(`SELECT COUNT(*) AS count FROM ${table}`).get() as { count: number }).count,
      );
      open.close();
      return { rows: counts, hasTrustee: (await admin.identity.users.find(trustee.id)) !== undefined };
    },
    magnum: { admin, database: rows },
    close() {
      shell.close();
      void admin.close();
    },
  };
}

/** What the masters' sshd would be: runs a line of quoted words on a machine. */
async function openShell(masters: Masters): Promise<{ port: number; close(): void }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString("utf8")));
    request.on("end", () => {
      const { address, line } = JSON.parse(body) as { address: string; line: string };
      const words = [...line.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = ""]) => word.replaceAll(`'\\''`, "'"));
      masters.run(address, words, new AbortController().signal).then(
        (output) => response.end(output),
        (error: unknown) => response.writeHead(500).end(String(error).replace("ENOENT: no such file", "No such file")),
      );
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  return { port, close: () => void server.close() };
}

const SHELL = `const [port, address, line] = process.argv.slice(2);
const response = await fetch("http://127.0.0.1:" + port, { method: "POST", body: JSON.stringify({ address, line }) });
const text = await response.text();
(response.ok ? process.stdout : process.stderr).write(text);
process.exitCode = response.ok ? 0 : 1;
`;

/** Like mysql --batch: statements of the standard input, values separated by tabs. */
const SQL = `import { DatabaseSync } from "node:sqlite";
const database = new DatabaseSync(process.argv[2]);
let text = "";
for await (const chunk of process.stdin) text += chunk;
for (const statement of text.split(";\\n").filter((one) => one.trim() !== ""))
  for (const row of database.prepare(statement).all()) console.log(Object.values(row).join("\\t"));
`;

/** The columns of Magnum's own tables that a migration reads, and another cluster's rows next to ours. */
function seed(path: string, { trust, trustee }: { trust: string; trustee: string }): void {
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE cluster (id INTEGER PRIMARY KEY, uuid TEXT, trust_id TEXT, trustee_user_id TEXT, ca_cert_ref TEXT,
      magnum_cert_ref TEXT, etcd_ca_cert_ref TEXT, front_proxy_ca_cert_ref TEXT);
    CREATE TABLE nodegroup (id INTEGER PRIMARY KEY, uuid TEXT, cluster_id TEXT);
    CREATE TABLE x509keypair (id INTEGER PRIMARY KEY, uuid TEXT);`);
  const key = (index: number) => `6e8ae3a5-0b4c-4f0e-9d26-0000000000${index}`;
  const other = key(99);
  const insert = database.prepare("INSERT INTO cluster VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)");
  insert.run(UUID, trust, trustee, key(10), key(11), key(12), key(13));
  insert.run(other, null, null, key(20), null, null, null);
  for (const index of [10, 11, 12, 13, 20])
    database.prepare("INSERT INTO x509keypair VALUES (NULL, ?)").run(key(index));
  for (const cluster of [UUID, UUID, UUID, other])
    database.prepare("INSERT INTO nodegroup VALUES (NULL, 'group', ?)").run(cluster);
  database.close();
}
