/** The programs of further cells of Nova, with a broker, a client of MariaDB and a nova-manage that are played. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isInstalled } from "../testing/commands.ts";

const programs = join(import.meta.dirname, "../../programs");
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "causeway-cells-"));
  for (const [name, text] of Object.entries({ "broker.admin": "a", "database.admin": "secret", accounts: "0 12" }))
    writeFileSync(join(folder, name), text);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that is found by its name. */
function play(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

describe.skipIf(!isInstalled("python3"))("the virtual host of a cell", () => {
  const prepare = async (status: number): Promise<{ status: number | null; calls: string[] }> => {
    const calls: string[] = [];
    const server = createServer(({ method, url, headers }, response) => {
      calls.push(`${method} ${url?.replace("/api", "")}`);
      response.writeHead(headers.authorization === `Basic ${btoa("admin:a")}` ? status : 401).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const where = { BROKER_HOST: "127.0.0.1", BROKER_MANAGEMENT_PORT: String(port), CREDENTIALS: folder };
    const env = { ...process.env, ...where, PAUSE_SECONDS: "0", PYTHONDONTWRITEBYTECODE: "1" };
    const child = spawn("python3", [join(programs, "broker-init.py"), "nova", "nova_cell2"], { env, stdio: "ignore" });
    const [ended] = (await once(child, "close")) as [number | null];
    server.close();
    return { status: ended, calls };
  };

  test("is made for each generation of Nova's accounts, which it neither makes nor removes", async () => {
    expect(await prepare(204)).toEqual({
      status: 0,
      calls: ["PUT /vhosts/nova_cell2", "PUT /permissions/nova_cell2/nova", "PUT /permissions/nova_cell2/nova_12"],
    });
  });

  test("fails with the broker, after the attempts of every first request", async () => {
    const calls = Array<string>(30).fill("PUT /vhosts/nova_cell2");
    expect(await prepare(503)).toEqual({ status: 1, calls });
    expect(await prepare(403)).toEqual({ status: 1, calls: calls.slice(0, 1) });
  });
});

describe("the database of a cell", () => {
  const prepare = () => {
    const where = { DATABASE_HOST: "db", DATABASE_PORT: "3306", CREDENTIALS: folder, CLIENT_FILE: join(folder, "cnf") };
    const env = { ...process.env, ...where, PATH: `${folder}:${process.env["PATH"]}` };
    return spawnSync("sh", [join(programs, "nova-cell-database.sh"), "nova_cell2"], { env, encoding: "utf8" });
  };

  test("is made for each generation of Nova's accounts", () => {
    play("mysql", `cat > ${folder}/said; echo "$@" > ${folder}/arguments; cp ${folder}/cnf ${folder}/client`);
    expect(prepare()).toMatchObject({ status: 0 });
    expect(read("said").trim().split("\n")).toEqual([
      "CREATE DATABASE IF NOT EXISTS `nova_cell2` CHARACTER SET utf8 COLLATE utf8_general_ci;",
      "GRANT ALL PRIVILEGES ON `nova\\_cell2`.* TO 'nova'@'%';",
      "GRANT ALL PRIVILEGES ON `nova\\_cell2`.* TO 'nova_12'@'%';",
    ]);
    expect(read("arguments")).not.toContain("secret");
    expect(read("client")).toContain("user=root\npassword=secret");
  });

  test("fails with the server", () => {
    play("mysql", "exit 1");
    expect(prepare().status).toBe(1);
  });
});

describe("the mapping of a cell", () => {
  const listing = (...cells: string[]): string =>
    [
      "+-------+------+",
      "|  Name |              UUID                    | Transport URL |",
      "| cell0 | 00000000-0000-0000-0000-000000000000 | none:///      |",
      ...cells.map((cell) => `| ${cell} | id-of-${cell} | rabbit:// |`),
    ].join("\n");
  const run = (url: string, listed: string, ...args: string[]) => {
    writeFileSync(join(folder, "listing"), listed);
    writeFileSync(join(folder, "50-credentials.conf"), `[DEFAULT]\ntransport_url = ${url}\n`);
    writeFileSync(join(folder, "calls"), "");
    play(
      "nova-manage",
      `case "$4" in list_cells) ! grep -qx fails ${folder}/listing && cat ${folder}/listing;; *) echo "$@" >> ${folder}/calls;; esac`,
    );
    const program = readFileSync(join(programs, "nova-cell.sh"), "utf8").replaceAll("/etc/nova/nova.conf.d", folder);
    writeFileSync(join(folder, "program"), program);
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
    const { status, stderr } = spawnSync("sh", [join(folder, "program"), ...args], { env, encoding: "utf8" });
    return { status, stderr, calls: read("calls").trim().replaceAll(`--config-dir ${folder} cell_v2 `, "") };
  };
  const database = "{scheme}://{username}:{password}@{hostname}:{port}/nova_cell2?{query}";
  const one = "rabbit://u:p@a:5672/nova";
  const three = "rabbit://u:p@a:5672,u:p@b:5672,u:p@c:5672/nova";
  const places = [1, 2, 3].map((each) => `{username${each}}:{password${each}}@{hostname${each}}:{port${each}}`);

  test.each([
    ["is made", one, listing("cell1"), "create_cell --name cell2", "{username}:{password}@{hostname}:{port}"],
    [
      "has a place for each member of the broker",
      three,
      listing("cell1"),
      "create_cell --name cell2",
      places.join(","),
    ],
    [
      "is brought up to date",
      one,
      listing("cell1", "cell2"),
      "update_cell --cell_uuid id-of-cell2",
      "{username}:{password}@{hostname}:{port}",
    ],
    [
      "is not that of a name that begins so",
      one,
      listing("cell22"),
      "create_cell --name cell2",
      "{username}:{password}@{hostname}:{port}",
    ],
  ])("%s", (_, url, listed, order, authority) => {
    const { status, calls } = run(url, listed, "map", "cell2", "nova_cell2");
    expect(status).toBe(0);
    const transport = `{scheme}://${authority}/nova_cell2?{query}`;
    expect(calls).toBe(`${order} --database_connection ${database} --transport-url ${transport}`);
  });

  test("of the first one names its database, too, and comes with that of cell0", () => {
    const { calls } = run(one, listing("cell1"), "map", "cell1", "nova");
    const [cell0, cell1] = calls.split("\n");
    expect(cell0).toBe(`map_cell0 --database_connection ${database.replace("nova_cell2", "nova_cell0")}`);
    expect(cell1).toMatch(/^update_cell --cell_uuid id-of-cell1 .*:\{port\}\/nova\?.*\/nova\?\{query\}$/);
  });

  test("is a template with the name of the database where there is one cell", () => {
    const { calls } = run(one, listing(), "map", "cell1", "{path}");
    expect(calls.split("\n")[1]).toMatch(/^create_cell --name cell1 .*:\{port\}\/\{path\}\?.*\/\{path\}\?\{query\}$/);
  });

  test("is that of new compute nodes of the cell alone", () => {
    const { status, calls } = run(one, listing("cell1", "cell2"), "discover", "cell2");
    expect({ status, calls }).toEqual({ status: 0, calls: "discover_hosts --cell_uuid id-of-cell2" });
  });

  test.each([
    ["map", "cell1", "nova"],
    ["map", "cell2", "nova_cell2"],
    ["discover", "cell2"],
  ])("is left as it is where the cells cannot be read: %s %s", (...args) => {
    const { status, calls } = run(one, "fails", ...args);
    expect({ status, calls }).toEqual({ status: 1, calls: "" });
  });

  test("is demanded by its compute nodes", () => {
    const { status, stderr, calls } = run(one, listing("cell1"), "discover", "cell2");
    expect({ status, calls }).toEqual({ status: 1, calls: "" });
    expect(JSON.parse(stderr)).toMatchObject({ level: "ERROR", message: "the cell cell2 is not mapped" });
  });
});
