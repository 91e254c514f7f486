/**
 * A cloud with Horizon, Designate and Manila on one machine whose policies are enforced: a login by the dashboard's own
 * form, a zone that a name server outside of the deployment serves, and a share.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { browserOf } from "./browser.ts";
import { administrator, clientOf, type Client } from "./client.ts";
import { deployment, podsOf, restarts, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { hasPool, NAME_SERVER, POOL, poolOf, resolve, SERVER, startNameServer, transfer } from "./name-server.ts";
import { enforcePolicies, type Enforcement } from "./policies.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { freezeOnce } from "./outage.ts";
import { PROJECT, ROLES } from "./service-cloud.ts";
import { restarted, seconds, whenReady } from "./whole-cloud.ts";

const SERVICES = ["glance", "designate", "manila", "horizon"] as const;
const HOST = "dashboard.cloud.example.org";
/** The machines of the rig: a caller in their network is a node. */
const NODES = "10.211.0.0/24";
const ZONE = "example.net.";

/** Shares are folders. */
const SHARES = [
  { section: "generic", option: "share_driver", value: "manila.share.drivers.files.FileDriver" },
  { section: "generic", option: "driver_handles_share_servers", value: "false" },
];

function cloud(pool?: string): object {
  const { spec } = deployment(SERVICES) as { spec: { services: { name: string }[] } };
  const services = spec.services.map((each) => ({
    ...each,
    ...(each.name === "manila" ? { configuration: SHARES } : {}),
    ...(each.name === "designate" && pool !== undefined ? { secretConfiguration: { name: pool } } : {}),
  }));
  return deployment(SERVICES, { services, network: { nodeNetworks: [NODES] } });
}

describe("a cloud of real processes with Horizon, Designate and Manila", () => {
  let rig: Rig;
  let enforcement: Enforcement | undefined;
  let admin: Client;
  let user: Client;
  let nameServer = "";

  beforeAll(async () => {
    rig = await startRig();
    const began = Date.now();
    enforcement = enforcePolicies(rig);
    rig.apply(volumes());
    rig.apply(cloud());
    await whenReady(rig);
    record("from nothing to a cloud with Horizon, Designate and Manila, policies enforced", {
      secondsToReady: seconds(Date.now() - began),
      components: statusOf(rig).components?.length ?? 0,
      restarts: restarted(rig).length,
    });
    nameServer = await startNameServer(rig);
    admin = clientOf(rig, administrator(rig), NAME_SERVER);
    await admin.run("project", "create", PROJECT.project);
    await admin.run("user", "create", "--password", PROJECT.password, PROJECT.user);
    for (const role of ROLES.filter((each) => ["member", "reader"].includes(each)))
      await admin.run("role", "add", "--project", PROJECT.project, "--user", PROJECT.user, role);
    user = clientOf(rig, PROJECT, NAME_SERVER);
  });

  afterAll(async () => {
    await enforcement?.stop();
    await rig?.close();
  });

  const becomes = async (wanted: string, client: Client, ...words: readonly string[]) => {
    let now = "";
    await eventually(TIMEOUT, async () => {
      now = (await client.run(...words, "-f", "value", "-c", "status")).trim();
      if (/error/i.test(now)) throw new Error(`${words.join(" ")}: ${now}`);
      return now === wanted;
    });
  };

  test("starts without a restart of any container", () => {
    expect(restarted(rig)).toEqual([]);
  });

  test("serves the dashboard's page of login with its styles and scripts", async () => {
    const browser = browserOf(rig, `${serviceAddress(rig, "horizon")}:8080`, HOST);
    const page = await browser.get("/auth/login/");
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/<input[^>]*name="password"/);
    const files = [...page.text.matchAll(/(?:href|src)=["'](\/static\/[^"'?]+\.(?:css|js))/g)].map(([, file]) => file!);
    expect(files.some((file) => file.endsWith(".css"))).toBe(true);
    expect(files.some((file) => file.endsWith(".js"))).toBe(true);
    for (const file of files) expect((await browser.get(file)).status, file).toBe(200);
  });

  test("refuses a wrong password, and logs a user in whose pages it shows", async () => {
    const browser = browserOf(rig, `${serviceAddress(rig, "horizon")}:8080`, HOST);
    const form = { username: PROJECT.user, domain: "Default" };
    const began = Date.now();
    const first = await browser.get("/auth/login/");
    const refused = await browser.submit("/auth/login/", first, { ...form, password: "another one" });
    expect(refused.status).toBe(200);
    expect(refused.text).toMatch(/Invalid credentials/);
    const entered = await browser.submit("/auth/login/", refused, { ...form, password: PROJECT.password });
    expect([entered.status, entered.location]).toEqual([302, "/"]);
    const page = await browser.get("/project/api_access/");
    record("a login by the dashboard's form, and a page after it", { seconds: seconds(Date.now() - began) });
    expect(page.status).toBe(200);
    expect(page.text).toContain("Identity");
    expect(page.text).toContain(PROJECT.user);
    expect(page.text).toContain("https://image.cloud.example.org");
    // Sessions are in memcached, which all processes have: each of them knows the user.
    for (const at of Array.from({ length: 8 }).keys())
      expect((await browser.get("/project/api_access/")).status, `request ${at}`).toBe(200);
    const stranger = browserOf(rig, `${serviceAddress(rig, "horizon")}:8080`, HOST);
    expect((await stranger.get("/project/api_access/")).status).toBe(302);
  });

  test("gives Designate a pool of a name server outside of the deployment", async () => {
    rig.apply(poolOf(rig, nameServer));
    rig.apply(cloud(POOL));
    await eventually(TIMEOUT, () => hasPool(rig));
    await whenReady(rig);
  });

  test("a zone and a record are served by that name server, and transferred from Designate's own", async () => {
    const began = Date.now();
    await user.run("zone", "create", "--email", "admin@example.net", ZONE);
    await becomes("ACTIVE", user, "zone", "show", ZONE);
    await user.run("recordset", "create", "--type", "A", "--record", "192.0.2.10", ZONE, "www");
    await becomes("ACTIVE", user, "recordset", "show", ZONE, `www.${ZONE}`);
    record("a zone and a record on a name server", { seconds: seconds(Date.now() - began) });
    expect(await resolve(rig, nameServer, `www.${ZONE}`, "A")).toEqual({
      code: "NOERROR",
      authoritative: true,
      answer: [`www.${ZONE} A 192.0.2.10`],
    });
    expect(await transfer(rig, ZONE)).toEqual(
      expect.arrayContaining([`${ZONE} NS ${SERVER}`, `www.${ZONE} A 192.0.2.10`]),
    );
    await user.run("zone", "delete", ZONE);
    await eventually(TIMEOUT, async () => (await user.ask<unknown[]>("zone", "list")).length === 0);
    expect((await resolve(rig, nameServer, `www.${ZONE}`, "A")).code).toBe("REFUSED");
  });

  test("makes a share, gives access to it, and deletes it", async () => {
    await admin.run("share", "type", "create", "default", "false");
    const began = Date.now();
    const { id } = await user.ask<{ id: string }>("share", "create", "NFS", "1", "--name", "first");
    await becomes("available", user, "share", "show", "first");
    record("a share", { seconds: seconds(Date.now() - began) });
    const folder = async () => rig.inContainer("cloud-manila-share-0", "manila-share", "ls", "/var/lib/manila/shares");
    expect(await folder()).toMatch(/share-/);
    await user.run("share", "access", "create", "first", "ip", "192.0.2.0/24");
    await eventually(TIMEOUT, async () => {
      const rules = await user.ask<{ State: string }[]>("share", "access", "list", "first");
      return rules.length === 1 && rules[0]?.State === "active";
    });
    const shares = await admin.ask<{ Host?: string }[]>("share", "service", "list");
    expect(shares.map(({ Host }) => Host)).toContain("manila-share@generic");
    await user.run("share", "delete", id);
    await eventually(TIMEOUT, async () => (await user.ask<unknown[]>("share", "list")).length === 0);
    expect(await folder()).toBe("");
  });

  test("nothing that their processes requested was refused", () => {
    const { early, undeclared } = enforcement?.refused() ?? { early: [], undeclared: ["nothing is enforced"] };
    console.log(`refused before a policy or an address was known: ${early.join(", ")}`);
    expect(undeclared).toEqual([]);
  });

  test("a server of transfers and a dashboard that hang are restarted, and nothing else", async () => {
    const before = restarts(rig);
    const began = Date.now();
    const pods: string[] = [];
    for (const component of ["designate-mdns", "designate-producer", "horizon", "manila-share"]) {
      const [pod = ""] = podsOf(rig, component);
      pods.push(pod);
      await freezeOnce(rig, component, pod);
    }
    await eventually(TIMEOUT, () => pods.every((pod) => (restarts(rig)[pod] ?? 0) > (before[pod] ?? 0)));
    record("processes of Designate, Horizon and Manila that hang: until they are restarted", {
      seconds: seconds(Date.now() - began),
    });
    expect(
      restarted(rig, before)
        .map(([pod]) => pod)
        .sort(),
    ).toEqual(pods.sort());
    await whenReady(rig);
  });
});
