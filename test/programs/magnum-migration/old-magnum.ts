/**
 * What the older Magnum has of a cluster outside its API: rows in its database, and a trustee with a trust in Keystone.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMagnumDatabase, type MagnumDatabase } from "@causeway/magnum-migration";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import type { Simulator } from "@causeway/simulator";
import { UUID } from "./names.ts";

export interface OldMagnum {
  /** Rows that it has, of cluster, nodegroup and x509keypair; and whether Keystone has its trustee. */
  readonly old: () => Promise<{ rows: readonly number[]; hasTrustee: boolean }>;
  /** Id of the trustee. */
  readonly trustee: string;
  /** What retire needs of it. */
  readonly magnum: { readonly admin: Cloud; readonly database: MagnumDatabase };
}

/** A command that runs SQL of its standard input on the database. */
export function sqlCommand(dir: string): string {
  const program = join(dir, "sql.mjs");
  if (!existsSync(program)) writeFileSync(program, SQL, { mode: 0o600 });
  return `${process.execPath} ${program} ${join(dir, "magnum.db")}`;
}

export async function openOldMagnum(dir: string, simulator: Simulator): Promise<OldMagnum> {
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
  return {
    async old() {
      const open = new DatabaseSync(database);
      const counts = ["cluster", "nodegroup", "x509keypair"].map(
        (table) => (open.prepare(`SELECT COUNT(*) AS count FROM ${table}`).get() as { count: number }).count,
      );
      open.close();
      return { rows: counts, hasTrustee: (await admin.identity.users.find(trustee.id)) !== undefined };
    },
    trustee: trustee.id,
    magnum: { admin, database: createMagnumDatabase(sqlCommand(dir)) },
  };
}

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
