/** What precedes the first migration of a schema, on a real MariaDB, where it is installed. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasMariaDb, startMariaDb, type MariaDb } from "../testing/mariadb.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const program = join(import.meta.dirname, "../../programs/db-unfinished.sh");

const hasNova = spawnSync("sh", ["-c", "command -v nova-manage"]).status === 0;
/** So many tables are no whole schema of Nova's API, and no empty one. */
const SOME = 3;
const TRIES = 10;

describe.skipIf(!hasMariaDb)("a database whose schema is to be made", () => {
  let dir = "";
  let server: MariaDb | undefined;
  const sql = (text: string) => server?.sql(text) ?? "";
  const tables = (database: string) =>
    sql(`SELECT table_name FROM information_schema.tables WHERE table_schema = '${database}' ORDER BY 1`);

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "unfinished-"));
    server = await startMariaDb(dir);
    mkdirSync(join(dir, "credentials"));
    writeFileSync(join(dir, "credentials/accounts"), "0 1");
    for (const generation of [0, 1])
      writeFileSync(join(dir, `credentials/nova.database.${generation}`), `p${generation}`);
    // The rights that the Job before gives, and no others.
    for (const database of ["nova", "nova_cell0"])
      sql(
        `CREATE USER IF NOT EXISTS nova_1@'%' IDENTIFIED BY 'p1'; GRANT ALL PRIVILEGES ON ${database}.* TO nova_1@'%'`,
      );
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const run = () =>
    execFileSync("sh", [program, "nova", "nova", "nova_cell0"], {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"] ?? "",
        DATABASE_HOST: "127.0.0.1",
        DATABASE_PORT: String(server?.port),
        CREDENTIALS: join(dir, "credentials"),
        CLIENT_FILE: join(dir, "client.cnf"),
      },
    });
  const fill = (database: string, statements: string) => {
    sql(`DROP DATABASE IF EXISTS ${database}; CREATE DATABASE ${database}`);
    if (statements !== "") sql(`USE ${database}; ${statements}`);
  };
  const VERSIONS = "CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY);";
  const HALF = "CREATE TABLE instances (id INT); CREATE TABLE flavors (id INT);";

  test("is emptied where its first migration was cut off, and says so", () => {
    fill("nova", `${VERSIONS} ${HALF}`);
    fill("nova_cell0", "");
    expect(JSON.parse(run())).toMatchObject({ message: expect.stringContaining("nova was cut off after 2 tables") });
    expect(tables("nova")).toBe("");
    expect(
      sql("SELECT default_character_set_name FROM information_schema.schemata WHERE schema_name = 'nova'"),
    ).toMatch(/^utf8/);
  });

  test("is there again where the check was cut off after it had removed it", () => {
    const like = (database: string) =>
      sql(`SELECT CONCAT(default_character_set_name, ' ', default_collation_name) FROM information_schema.schemata
        WHERE schema_name = '${database}'`);
    fill("nova", "");
    sql("DROP DATABASE nova; DROP DATABASE IF EXISTS nova_cell0");
    sql("CREATE DATABASE nova_cell0 CHARACTER SET utf8 COLLATE utf8_general_ci");
    expect(run()).toBe("");
    expect(like("nova")).toMatch(/^utf8/);
    expect(like("nova")).toBe(like("nova_cell0"));
  });

  test.each([
    ["a step was finished", `${VERSIONS} ${HALF} INSERT INTO alembic_version VALUES ('1')`],
    ["an older program made it", `CREATE TABLE migrate_version (version INT); ${VERSIONS} ${HALF}`],
    ["nothing says who made it", HALF],
    ["nothing was made yet", VERSIONS],
  ])("remains as it is where %s", (_, statements) => {
    fill("nova", "");
    fill("nova_cell0", statements);
    const before = tables("nova_cell0");
    expect(run()).toBe("");
    expect(tables("nova_cell0")).toBe(before);
  });

  test.skipIf(!hasNova)("lets Nova's own first migration begin again after it was cut off", async () => {
    const file = join(dir, "nova.conf");
    const url = `mysql+pymysql://nova_1:p1@127.0.0.1:${server?.port}/nova?charset=utf8`;
    writeFileSync(file, `[api_database]\nconnection = ${url}\n`);
    const sync = ["--config-file", file, "api_db", "sync"];
    const steps = () => sql("SELECT COUNT(*) FROM nova.alembic_version");
    const isHalf = () => tables("nova").split("\n").length > SOME && steps() === "0";
    const cutOff = async (): Promise<boolean> => {
      fill("nova", "");
      const migrating = spawn("nova-manage", sync, { stdio: "ignore" });
      const ended = new Promise((done) => migrating.once("close", done));
      while (migrating.exitCode === null && !isHalfOf(isHalf)) await new Promise((done) => setTimeout(done, 5));
      // It may have come to its end meanwhile: only what is left when it has stopped counts.
      migrating.kill("SIGSTOP");
      const isLeft = migrating.exitCode === null && isHalf();
      migrating.kill("SIGKILL");
      await ended;
      return isLeft;
    };
    let isCut = false;
    for (let tries = 0; tries < TRIES && !isCut; tries++) isCut = await cutOff();
    expect(isCut).toBe(true);
    expect(spawnSync("nova-manage", sync).status).not.toBe(0);
    expect(run()).toContain("nova was cut off");
    expect(spawnSync("nova-manage", sync).status).toBe(0);
    expect(steps()).toBe("1");
  });
});

/** Before the first statement there is no table to ask. */
function isHalfOf(ask: () => boolean): boolean {
  try {
    return ask();
  } catch {
    return false;
  }
}
