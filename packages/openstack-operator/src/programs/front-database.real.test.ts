import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { FrontOfApi, hasPython } from "../testing/front-of-api.ts";
import { hasMariaDb, startMariaDb, type MariaDb } from "../testing/mariadb.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const front = new FrontOfApi();
afterEach(() => front.stop());
afterAll(() => front.remove());

describe.runIf(hasPython && hasMariaDb)("an API in front of a real MariaDB", () => {
  let database: MariaDb;
  const url = (password: string) => `mysql+pymysql://glance:${password}@127.0.0.1:${database.port}/glance?charset=utf8`;

  beforeAll(async () => {
    database = await startMariaDb(front.dir);
    database.sql("CREATE USER 'glance'@'%' IDENTIFIED BY 'p@:word'");
  });
  afterAll(() => database?.stop());

  test("is not ready while it does not respond, remains live without a worker, and is ready again with it", async () => {
    await front.start(url("p%40%3Aword"));
    const own = () => database.sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'glance'");
    await front.until(() => own() === "1");
    const aborted = database.sql("SHOW STATUS LIKE 'Aborted_connects'");
    const before = front.worked();
    expect([await front.ask("ready"), await front.ask("live"), await front.ask("startup")]).toEqual([200, 200, 200]);
    await front.until(() => front.worked() === before + 3);
    database.signal("SIGSTOP");
    await front.until(async () => (await front.ask("ready")) === 503);
    const reached = front.worked();
    expect([await front.ask("ready"), await front.ask("live")]).toEqual([503, 200]);
    // A request of a client is the service's own affair.
    expect(await front.ask()).toBe(200);
    await front.until(() => front.worked() === reached + 1);
    database.signal("SIGCONT");
    await front.until(async () => (await front.ask("ready")) === 200);
    expect(own()).toBe("1");
    expect(database.sql("SHOW STATUS LIKE 'Aborted_connects'")).toBe(aborted);
    expect(front.said).not.toContain("not pinged");
  });

  test("is ready where the server refuses its account, which is not tried again", async () => {
    await front.start(url("wrong"));
    await front.until(() => front.said.includes("the database is not pinged any more: error 1045"));
    expect(await front.ask("ready")).toBe(200);
    const refused = database.sql("SHOW STATUS LIKE 'Aborted_connects'");
    // Ten times as long as between two questions.
    for (let each = 0; each < 20; each++) await front.until(async () => (await front.ask("live")) === 200);
    expect(database.sql("SHOW STATUS LIKE 'Aborted_connects'")).toBe(refused);
    expect(front.said).not.toContain("wrong");
  });

  test("responds to the kubelet while all of its workers wait for the database, and to others at once", async () => {
    await front.start(url("p%40%3Aword"), { FRONT_REQUESTS: "4" });
    database.signal("SIGSTOP");
    await front.until(async () => (await front.ask("ready")) === 503);
    for (let each = 0; each < 4; each++) front.ask(undefined, "/?wait=1").catch(() => 0);
    // Another request at this moment could be the fourth that workers have.
    await front.until(() => front.kept() === 4);
    expect(await front.ask()).toBe(503);
    expect([await front.ask("ready"), await front.ask("live")]).toEqual([503, 200]);
    database.signal("SIGCONT");
  });
});
