/** Database, broker, cache and Keystone as real processes, started by the operator in its own order. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { adminToken, deployment, request, restarts, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { roll, underLoad } from "./under-load.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";

describe("a cloud of real processes with Keystone", () => {
  let rig: Rig;
  let token = "";
  const ready = () => eventually(TIMEOUT, () => statusOf(rig).phase === "Ready");
  const accepted = async (subject: string) => {
    const url = `http://${serviceAddress(rig, "keystone-api")}:5000/v3/auth/tokens`;
    const answer = await rig.inNetwork(
      "curl",
      "-s",
      "-o",
      "/dev/null",
      "-w",
      "%{http_code}",
      "-m",
      "60",
      "-H",
      `X-Auth-Token: ${subject}`,
      "-H",
      `X-Subject-Token: ${subject}`,
      url,
    );
    return answer === "200";
  };

  beforeAll(async () => {
    rig = await startRig();
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("starts from nothing in the operator's order, with no restart of any container, and Keystone gives a token", async () => {
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(deployment([]));
    await ready();
    token = await adminToken(rig);
    record("from nothing to a token of Keystone", { seconds: Math.round((Date.now() - began) / 1000) });
    expect(await accepted(token)).toBe(true);
    expect(
      Object.values(restarts(rig)).every((count) => count === 0),
      JSON.stringify(restarts(rig)),
    ).toBe(true);
    const services = await request(rig, "GET", `http://${serviceAddress(rig, "keystone-api")}:5000/v3/services`, {
      token,
    });
    expect(JSON.parse(services.body)).toMatchObject({ services: [{ type: "identity", name: "keystone" }] });
  });

  test("tokens remain valid through a rotation of the Fernet keys, and new ones are signed with another key", async () => {
    const keysOf = () => rig.get<{ data: Record<string, string> }>("secret", "cloud-token-keys").data;
    const before = keysOf();
    // The keys are as old as the Secret says: they are due.
    rig.kubectl(
      "annotate",
      "secret",
      "cloud-token-keys",
      "--overwrite",
      "openstack.causeway.dev/rotated-at=2020-01-01T00:00:00Z",
    );
    await eventually(TIMEOUT, () => Object.keys(keysOf()).length > Object.keys(before).length);
    const staged = before["0"] ?? "";
    const highest = String(Math.max(...Object.keys(keysOf()).map(Number)));
    expect(keysOf()[highest]).toBe(staged);
    const [pod = ""] = Object.keys(restarts(rig)).filter((name) => name.startsWith("cloud-keystone-api"));
    // The kubelet refreshes the files within about a minute.
    await eventually(TIMEOUT, async () =>
      (await rig.inContainer(pod, "keystone-api", "ls", "/etc/keystone/fernet-keys")).includes(highest),
    );
    expect(await accepted(token)).toBe(true);
    expect(await accepted(await adminToken(rig))).toBe(true);
  });

  test("rolling Keystone's API under 50 requests a second fails none of them", async () => {
    const url = `http://${serviceAddress(rig, "keystone-api")}:5000/v3`;
    const result = await underLoad(rig, { url, perSecond: 50 }, [
      "Keystone's API is rolled",
      () => roll(rig, "keystone-api", deployment([], { services: changed(configuration) })),
    ]);
    expect(result.examples).toEqual([]);
    expect(result.sent).toBeGreaterThan(500);
  });

  test("every password of the services is replaced while tokens are checked in the database, and no request fails", async () => {
    const url = `http://${serviceAddress(rig, "keystone-api")}:5000/v3/projects`;
    const rotated = deployment([], { services: changed(configuration), rotation: { passwords: 1 } });
    const result = await underLoad(rig, { url, perSecond: 10, token }, [
      "passwords are rotated",
      async () => {
        await roll(rig, "keystone-api", rotated);
        await eventually(TIMEOUT, () => statusOf(rig).rotation?.passwords === 1 && statusOf(rig).phase === "Ready");
      },
    ]);
    expect(result.examples).toEqual([]);
    expect(result.sent).toBeGreaterThan(100);
    const users = await rig.inContainer("cloud-mariadb-0", "mariadb", ...query("SELECT User FROM mysql.user"));
    expect(users).toContain("keystone_1");
    expect(users).not.toMatch(/^keystone$/m);
  });

  test("a total loss of power costs no committed row: the same token is accepted, and a project is still there", async () => {
    const keystone = `http://${serviceAddress(rig, "keystone-api")}:5000/v3`;
    const made = await request(rig, "POST", `${keystone}/projects`, {
      token,
      body: { project: { name: "before-the-loss" } },
    });
    expect(made.status).toBe(201);
    const began = Date.now();
    await rig.powerOff();
    await rig.powerOn();
    await eventually(TIMEOUT, () => accepted(token));
    record("Keystone after a total loss of power", { secondsToTheSameToken: Math.round((Date.now() - began) / 1000) });
    const { body } = await request(rig, "GET", `${keystone}/projects?name=before-the-loss`, { token });
    expect(JSON.parse(body)).toMatchObject({ projects: [{ name: "before-the-loss" }] });
    await ready();
  });
});

/** An option that changes nothing that is tested here. */
const configuration = [{ section: "token", option: "allow_expired_window", value: "100000" }];

function changed(configuration: readonly object[]): object[] {
  const { spec } = deployment([]) as { spec: { services: { name: string }[] } };
  return spec.services.map((each) => (each.name === "keystone" ? { ...each, configuration } : each));
}

const query = (sql: string) => [
  "sh",
  "-c",
  `mysql --socket=/run/mysqld/mysqld.sock --user=root --password="$(cat /run/credentials/database.admin)" --batch --skip-column-names --execute "${sql}"`,
];
