/** A further cell of Nova in a real MariaDB, mapped by a real nova-manage, where these are installed. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isInstalled } from "../testing/commands.ts";
import { hasMariaDb, startMariaDb, type MariaDb } from "../testing/mariadb.ts";

// Each run of nova-manage takes seconds of a processor, of which others may take their share.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 120_000 });
const programs = join(import.meta.dirname, "../../programs");

describe.skipIf(!hasMariaDb || !isInstalled("nova-manage"))("a further cell of Nova", () => {
  let dir = "";
  let server: MariaDb | undefined;
  const sql = (text: string) => server?.sql(text) ?? "";

  /** The configuration of a cell's processes, of one generation of passwords. */
  function configure(cell: "nova" | "nova_cell2", generation: 0 | 1): string {
    const user = generation === 0 ? "nova" : "nova_1";
    const folder = join(dir, `${cell}-${generation}`);
    const at = (database: string) =>
      `connection = mysql+pymysql://${user}:p${generation}@127.0.0.1:${server?.port}/${database}?charset=utf8`;
    mkdirSync(folder);
    writeFileSync(
      join(folder, "50-credentials.conf"),
      [
        "[DEFAULT]",
        `transport_url = rabbit://${user}:b@one:5672,${user}:b@two:5672/${cell}`,
        `[database]\n${at(cell)}\n[api_database]\n${at("nova_api")}\n[oslo_concurrency]\nlock_path = ${dir}`,
        "",
      ].join("\n"),
    );
    return folder;
  }
  const manage = (folder: string, ...args: string[]): string =>
    execFileSync("nova-manage", ["--config-dir", folder, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  const program = (folder: string, ...args: string[]): void => {
    const text = readFileSync(join(programs, "nova-cell.sh"), "utf8").replaceAll("/etc/nova/nova.conf.d", folder);
    execFileSync("sh", ["-c", text, "nova-cell.sh", ...args], { stdio: "ignore" });
  };
  /** Names of cells with the end of their two addresses, as a process with this configuration reads them. */
  const cells = (folder: string): string[] =>
    manage(folder, "cell_v2", "list_cells", "--verbose")
      .split("\n")
      .filter((line) => /^\| +cell\d/.test(line))
      .map((line) => line.split("|").map((field) => field.trim()))
      .map(([, name, , transport = "", database = ""]) =>
        [name, transport.replace(/^rabbit:/, ""), database.replace(/^.*@127\.0\.0\.1:\d+/, "")].join(" "),
      );

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "cells-"));
    server = await startMariaDb(dir);
    mkdirSync(join(dir, "credentials"));
    writeFileSync(join(dir, "credentials/accounts"), "0 1");
    writeFileSync(join(dir, "credentials/database.admin"), "of-root");
    for (const user of ["nova", "nova_1"]) {
      sql(`CREATE USER ${user}@'%' IDENTIFIED BY 'p${user === "nova" ? 0 : 1}'`);
      for (const database of ["nova", "nova_api", "nova_cell0"])
        sql(`CREATE DATABASE IF NOT EXISTS ${database}; GRANT ALL PRIVILEGES ON ${database}.* TO ${user}@'%'`);
    }
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test("gets a database that Nova's accounts alone can use, its schema, and its mapping for each process", () => {
    const env = {
      PATH: process.env["PATH"] ?? "",
      DATABASE_HOST: "127.0.0.1",
      DATABASE_PORT: String(server?.port),
      CREDENTIALS: join(dir, "credentials"),
      CLIENT_FILE: join(dir, "client.cnf"),
    };
    sql("CREATE DATABASE novaXcell2");
    for (let run = 0; run < 2; run++)
      execFileSync("sh", [join(programs, "nova-cell-database.sh"), "nova_cell2"], { env });
    const use = (database: string) =>
      spawnSync("mariadb", [
        "--protocol=tcp",
        "-h127.0.0.1",
        `-P${server?.port}`,
        "-unova_1",
        "-pp1",
        database,
        "-e",
        "",
      ]).status;
    expect([use("nova_cell2"), use("novaXcell2")]).toEqual([0, 1]);
    const [first, second, later] = [configure("nova", 0), configure("nova_cell2", 0), configure("nova_cell2", 1)];
    manage(first, "api_db", "sync");
    manage(second, "db", "sync", "--local_cell");
    const has = (database: string) =>
      sql(
        `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '${database}' AND table_name = 'compute_nodes'`,
      );
    expect([has("nova"), has("nova_cell2")]).toEqual(["0", "1"]);
    program(first, "map", "cell1", "nova");
    for (let run = 0; run < 2; run++) program(second, "map", "cell2", "nova_cell2");
    const expected = (user: string) => [
      "cell0 none:/// /nova_cell0?charset=utf8",
      `cell1 //${user}:b@one:5672,${user}:b@two:5672/nova? /nova?charset=utf8`,
      `cell2 //${user}:b@one:5672,${user}:b@two:5672/nova_cell2? /nova_cell2?charset=utf8`,
    ];
    expect(cells(first)).toEqual(expected("nova"));
    expect(cells(later)).toEqual(expected("nova_1"));
    program(later, "discover", "cell2");
  });
});
