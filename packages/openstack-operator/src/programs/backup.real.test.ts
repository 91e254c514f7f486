/** The programs of backups against real servers of MariaDB and of OVN's database, where they are installed. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openBackupFolder, type BackupFolder } from "../testing/backup-folder.ts";
import { isInstalled } from "../testing/commands.ts";
import { hasMariaDb, startMariaDb, type MariaDb } from "../testing/mariadb.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const python = isInstalled("python3");
const mariadb = python && hasMariaDb && isInstalled("mariadb-dump");
const ovsdb = python && ["ovsdb-server", "ovsdb-client", "ovsdb-tool"].every(isInstalled);

let world: BackupFolder;
let dir = "";
beforeAll(() => {
  world = openBackupFolder();
  ({ dir } = world);
});
afterAll(() => world.remove());
const { run, folder, place }: Pick<BackupFolder, "run" | "folder" | "place"> = {
  run: (...given) => world.run(...given),
  folder: (...given) => world.folder(...given),
  place: (...given) => world.place(...given),
};

async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (check()) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("the server did not start");
}

function end(child: ChildProcess | undefined): Promise<unknown> {
  if (!child || child.exitCode !== null) return Promise.resolve();
  const ended = new Promise((done) => child.on("close", done));
  child.kill("SIGTERM");
  return ended;
}

describe.skipIf(!mariadb)("a backup of databases on a real MariaDB", () => {
  let server: MariaDb | undefined;
  let environment: Record<string, string> = {};
  let sql: MariaDb["sql"];

  beforeAll(async () => {
    server = await startMariaDb(dir);
    ({ sql } = server);
    environment = place({
      DATABASE_HOST: "127.0.0.1",
      DATABASE_PORT: String(server.port),
      CLIENT_FILE: join(dir, "client.cnf"),
      CREDENTIALS: folder("credentials", { "database.admin": "of-root" }),
    });
  });
  afterAll(() => server?.stop());

  const rows = () => sql("SELECT COUNT(*), MAX(note) FROM nova.instances; SELECT COUNT(*) FROM nova_api.flavors;");
  const fill = () =>
    sql(
      `CREATE DATABASE nova_api; CREATE DATABASE nova; CREATE DATABASE nova_cell0;
       CREATE TABLE nova.instances (id INT PRIMARY KEY AUTO_INCREMENT, note TEXT, raw BLOB) ENGINE=InnoDB;
       CREATE TABLE nova_api.flavors (id INT PRIMARY KEY) ENGINE=InnoDB;
       INSERT INTO nova.instances (note, raw) VALUES ('line\\nbreak ''quoted'' é', x'00ff27'), ('two', NULL);
       INSERT INTO nova_api.flavors VALUES (1), (2), (3);`,
    );

  test("brings back every row of all databases of a service, and refuses to replace others", async () => {
    fill();
    const before = rows();
    const backedUp = await run("backup.py", ["database", "nova"], environment);
    expect(backedUp, backedUp.stderr).toMatchObject({ status: 0 });
    expect(Number((JSON.parse(backedUp.message) as { bytes: number }).bytes)).toBeGreaterThan(500);
    const finished = await run("backup.py", ["finish"], { ...environment, BACKUP_PARTS: "nova.sql.gz" });
    expect(finished, finished.stderr).toMatchObject({ status: 0 });
    sql("DELETE FROM nova.instances WHERE id = 1; DROP DATABASE nova_cell0; DROP TABLE nova_api.flavors;");
    const changed = sql("SELECT COUNT(*) FROM nova.instances");
    const refused = await run("restore.py", ["database", "nova"], environment);
    expect(refused.status).toBe(3);
    expect(refused.message).toBe("the databases of nova hold 1 tables: set spec.restore.overwrite to replace them");
    expect(sql("SELECT COUNT(*) FROM nova.instances")).toBe(changed);
    const restored = await run("restore.py", ["database", "nova"], { ...environment, RESTORE_OVERWRITE: "yes" });
    expect(restored, restored.stderr).toMatchObject({ status: 0 });
    expect(rows()).toBe(before);
    expect(sql("SELECT HEX(raw) FROM nova.instances WHERE id = 1")).toBe("00FF27");
  });

  test("is restored once: what was written after it remains when the Job runs again", async () => {
    sql("INSERT INTO nova.instances (note) VALUES ('after the restore')");
    const again = await run("restore.py", ["database", "nova"], { ...environment, RESTORE_OVERWRITE: "yes" });
    expect(again, again.stderr).toMatchObject({ status: 0 });
    expect(sql("SELECT COUNT(*) FROM nova.instances WHERE note = 'after the restore'")).toBe("1");
  });

  test("that was cut off is begun again without spec.restore.overwrite", async () => {
    sql(
      `UPDATE openstack_restore.parts SET state = 'started' WHERE service = 'nova'; DROP TABLE nova_api.flavors;
       DELETE FROM nova.instances;`,
    );
    const resumed = await run("restore.py", ["database", "nova"], environment);
    expect(resumed, resumed.stderr).toMatchObject({ status: 0 });
    expect(rows()).toContain("\n3");
  });

  test("whose file was changed is refused before anything is dropped", async () => {
    const file = join(dir, "target/cloud/20260101t020000z/nova.sql.gz");
    const original = readFileSync(file);
    writeFileSync(file, Buffer.concat([original, Buffer.from("x")]));
    sql("DELETE FROM openstack_restore.parts");
    const before = rows();
    const refused = await run("restore.py", ["database", "nova"], { ...environment, RESTORE_OVERWRITE: "yes" });
    writeFileSync(file, original);
    expect(refused.status).toBe(1);
    expect(refused.message).toContain("its digest differs");
    expect(rows()).toBe(before);
  });

  test("of a database that does not exist leaves no file behind that counts", async () => {
    const failed = await run("backup.py", ["database", "heat"], environment);
    expect(failed.status).toBe(1);
    expect(failed.message).toContain("mariadb-dump ended with status");
    expect(readdirSync(join(dir, "target/cloud/20260101t020000z"))).not.toContain("heat.sql.gz");
  });
});

describe.skipIf(!ovsdb)("a backup of OVN's northbound database on a real server", () => {
  let server: ChildProcess | undefined;
  let control = "";
  const schema = {
    name: "OVN_Northbound",
    version: "1.0.0",
    tables: {
      NB_Global: {
        columns: { external_ids: { type: { key: "string", value: "string", min: 0, max: "unlimited" } } },
        maxRows: 1,
        isRoot: true,
      },
      Logical_Switch: { columns: { name: { type: "string" } }, isRoot: true },
      Logical_Router: { columns: { name: { type: "string" } }, isRoot: true },
    },
  };
  let remote = "";
  const transact = (...operations: object[]): string =>
    execFileSync("ovsdb-client", ["transact", remote, JSON.stringify(["OVN_Northbound", ...operations])], {
      encoding: "utf8",
    });
  const switches = (): string[] => {
    const [{ rows = [] } = {}] = JSON.parse(
      transact({ op: "select", table: "Logical_Switch", where: [], columns: ["name"] }),
    ) as { rows?: { name: string }[] }[];
    return rows.map(({ name }) => name).toSorted();
  };
  const start = async (name: string): Promise<void> => {
    const file = join(dir, `${name}.db`);
    control = join(dir, `${name}.ctl`);
    const text = join(dir, "nb.ovsschema");
    writeFileSync(text, JSON.stringify(schema));
    execFileSync("ovsdb-tool", ["create", file, text]);
    const log = join(dir, `${name}.log`);
    server = spawn(
      "ovsdb-server",
      [file, "--remote=ptcp:0:127.0.0.1", `--unixctl=${control}`, `--log-file=${log}`, "-vconsole:off"],
      { stdio: "ignore" },
    );
    const listening = /listening on port (\d+)/;
    await eventually(() => existsSync(log) && listening.test(readFileSync(log, "utf8")));
    remote = `tcp:127.0.0.1:${listening.exec(readFileSync(log, "utf8"))?.[1]}`;
  };
  afterAll(() => end(server));

  test("brings back networks with their mark in one transaction, once, and refuses to replace others", async () => {
    await start("first");
    const insert = (name: string) => ({ op: "insert", table: "Logical_Switch", row: { name } });
    transact({ op: "insert", table: "NB_Global", row: { external_ids: ["map", [["kept", "yes"]]] } }, insert("blue"));
    const environment = () => place({ BACKUP_RUN: "20260102t020000z", OVN_NB: remote });
    const backedUp = await run("backup.py", ["ovn", "nb"], environment());
    expect(backedUp, backedUp.stderr).toMatchObject({ status: 0 });
    const finished = await run("backup.py", ["finish"], { ...environment(), BACKUP_PARTS: "ovn-nb.db.gz" });
    expect(finished, finished.stderr).toMatchObject({ status: 0 });
    await end(server);
    await start("second");
    const restored = await run("restore.py", ["ovn", "nb"], environment());
    expect(restored, restored.stderr).toMatchObject({ status: 0 });
    expect(switches()).toEqual(["blue"]);
    transact(insert("made later"));
    const again = await run("restore.py", ["ovn", "nb"], environment());
    expect(again, again.stderr).toMatchObject({ status: 0 });
    expect(switches()).toEqual(["blue", "made later"]);
    transact({
      op: "mutate",
      table: "NB_Global",
      where: [],
      mutations: [["external_ids", "delete", ["set", ["causeway-restored"]]]],
    });
    const refused = await run("restore.py", ["ovn", "nb"], environment());
    expect(refused).toMatchObject({ status: 3 });
    expect(refused.message).toContain("holds networks");
    expect(switches()).toEqual(["blue", "made later"]);
  });
});
