/**
 * A whole cloud of real processes, with Nova on two compute nodes and Neutron with OVN, is upgraded by operators that
 * are killed; before that a check of Nova fails, and in it a migration of real rows.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RELEASE, REGISTRY } from "../../scripts/openstack-images/build.ts";
import { openStackReleases } from "../../scripts/openstack-releases/build.ts";
import { eventually } from "../support/processes.ts";
import { adminToken, podsOf, serviceAddress, statusOf } from "./cloud.ts";
import { sql } from "./cut-off.ts";
import { record } from "./figures.ts";
import { lostAndRestored, namesIn } from "./lost-cloud.ts";
import { TIMEOUT, startRig, volumes, type Rig, type RigOptions } from "./rig.ts";
import { bootServer, computesUp, makeImageAndFlavor, namesNow, serverNow, type BootedServer } from "./servers.ts";
import { underLoad } from "./under-load.ts";
import { UpgradeWatch } from "./upgrade-watch.ts";
import { COMPUTE, CONTROL, restarted, seconds, whenReady, wholeCloud } from "./whole-cloud.ts";

const NEXT = "2023.1";
/** The order of Nova's upgrade, as conditions of the deployment. */
const STEPS = [
  "UpgradeChecked",
  "PlacementUpdated",
  "NovaApiSchemaExpanded",
  "NovaCellSchemasExpanded",
  "NovaConductorsUpdated",
  "NovaSchedulerUpdated",
  "NovaApiUpdated",
  "ComputeNodesUpdated",
  "NovaMessagesUnpinned",
  "DataMigrated",
];
/** The same, as what runs. */
const PODS = [
  "placement-api",
  "nova-db-sync",
  "nova-cell-sync",
  "nova-conductor",
  "nova-scheduler",
  "nova-api",
  "nova-compute",
  "nova-online-migrations",
];
/** Databases, broker and cache have versions of their own: with the release they remain as they are. */
const BACKENDS = ["mariadb", "rabbitmq", "memcached"];

function cloudOf(release: string, more: Record<string, unknown> = {}): object {
  const { spec } = wholeCloud() as { spec: { services: { name: string }[] } };
  const services = spec.services.map((each) =>
    BACKENDS.includes(each.name) ? { ...each, image: `${REGISTRY}/${each.name}:${RELEASE}` } : each,
  );
  return wholeCloud({}, { release, services, ...more });
}

const componentOf = (rig: Rig, name: string) => statusOf(rig).components?.find((each) => each.name === name);
const saysThat = ({ step = "", rootCause = "" }: { step?: string; rootCause?: string } = {}) => `${step}: ${rootCause}`;

interface Conditions {
  readonly status: { readonly conditions: readonly { type: string; status: string }[] };
}
const conditionsOf = (rig: Rig) => rig.get<Conditions>("openstackdeployment", "cloud").status.conditions;
const isTrue = (rig: Rig, type: string) => conditionsOf(rig).find((each) => each.type === type)?.status === "True";

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;
  let server: BootedServer;
  let options: RigOptions;

  beforeAll(async () => {
    options = { machines: 2, images: [await openStackReleases([NEXT])] };
    rig = await startRig(options);
    rig.apply(volumes());
    rig.apply(cloudOf(RELEASE));
    await whenReady(rig);
    server = await bootServer(rig, "before", COMPUTE);
    expect(server.status).toBe("ACTIVE");
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("changes nothing while nova-status finds a compute service that is two releases old", async () => {
    await sql(
      rig,
      "INSERT INTO nova.services (created_at, uuid, host, `binary`, topic, report_count, disabled, forced_down, version, deleted)" +
        " VALUES (NOW(), UUID(), 'old', 'nova-compute', 'compute', 0, 1, 0, 54, 0)",
    );
    const watch = new UpgradeWatch(rig, NEXT);
    rig.apply(cloudOf(NEXT));
    const others = ["keystone", "glance", "placement", "neutron"].map((service) => `${service}-upgrade-check`);
    let said = "";
    const check = await eventually(TIMEOUT, () => {
      watch.read();
      const found = componentOf(rig, "nova-upgrade-check");
      if (saysThat(found) !== said) console.log(`the check: ${(said = saysThat(found))}`);
      const isOver = others.every((name) => componentOf(rig, name)?.state === "Ready");
      return isOver && found?.rootCause?.includes("exited with status") ? found : undefined;
    });
    expect([...watch.components].filter((name) => !name.endsWith("-upgrade-check"))).toEqual([]);
    expect(isTrue(rig, "UpgradeChecked")).toBe(false);
    expect(check.rootCause).toMatch(
      /exited with status 2: Check: Older than N-1 computes Result: Failure Details: .*54/,
    );
  });

  test("is upgraded while the operator is killed at each step: APIs answer, and Nova follows its order", async () => {
    const began = Date.now();
    // What a migration of this release has to fill in, and cannot.
    await sql(rig, `UPDATE nova.instances SET availability_zone = NULL WHERE uuid = '${server.id}'`);
    await sql(
      rig,
      "ALTER TABLE nova.instances ADD CONSTRAINT refused" +
        ` CHECK (availability_zone IS NULL OR availability_zone <> 'nova' OR uuid <> '${server.id}')`,
    );
    await sql(rig, "DELETE FROM nova.services WHERE host = 'old'");
    const token = await adminToken(rig);
    const keystone = { url: `http://${serviceAddress(rig, "keystone-api")}:5000/v3/projects`, perSecond: 5, token };
    const nova = { url: `http://${serviceAddress(rig, "nova-api")}:8774/v2.1/servers`, perSecond: 5, token };
    const watch = new UpgradeWatch(rig, NEXT);
    const killedAt: string[] = [];
    const over: string[] = [];
    let refusal = "";
    const upgrade = async () => {
      await eventually(TIMEOUT, async () => {
        const { upgrade: under, phase, release } = statusOf(rig);
        watch.read();
        for (const { type, status } of conditionsOf(rig))
          if (status === "True" && STEPS.includes(type) && !over.includes(type)) over.push(type);
        if (under && !killedAt.includes(under.step)) {
          console.log(`${new Date().toISOString()} ${under.step}: the operator is killed`);
          killedAt.push(under.step);
          await rig.killOperator();
        }
        const migrations = componentOf(rig, "nova-online-migrations");
        if (refusal === "" && migrations?.rootCause?.includes("migrations that failed")) {
          const { status } = await serverNow(rig, server.id);
          // By hand, as a person would: a change of the table would wait for its readers, and others for it.
          await sql(rig, `UPDATE nova.instances SET availability_zone = 'repaired' WHERE uuid = '${server.id}'`);
          refusal = `${status}; ${isTrue(rig, "DataMigrated") ? "migrated" : "not migrated"}; ${saysThat(migrations)}`;
          console.log(`the migrations say: ${refusal}`);
        }
        return release === NEXT && phase === "Ready";
      });
    };
    let inNova: Awaited<ReturnType<typeof underLoad>> | undefined;
    const inKeystone = await underLoad(rig, keystone, [
      `Keystone while a whole cloud is upgraded to ${NEXT}`,
      async () => {
        inNova = await underLoad(rig, nova, [`Nova while a whole cloud is upgraded to ${NEXT}`, upgrade]);
      },
    ]);
    record(`upgrade of a whole cloud to ${NEXT}`, {
      seconds: seconds(Date.now() - began),
      kills: killedAt.length,
      restarts: restarted(rig).length,
    });
    console.log(`steps: ${over.join(" ")}; pods: ${watch.firstOf(PODS).join(" ")}`);
    expect(over).toEqual(STEPS);
    expect(watch.firstOf(PODS).toSorted((a, b) => a - b)).toEqual(watch.firstOf(PODS));
    expect([...new Set(watch.podsOf("nova-conductor").map(({ messages }) => messages))]).toEqual([RELEASE, NEXT]);
    expect(killedAt.length).toBeGreaterThanOrEqual(6);
    expect(inKeystone.examples).toEqual([]);
    expect(inNova?.examples).toEqual([]);
    expect(refusal).toMatch(/^ACTIVE; not migrated; /);
    expect(refusal).toContain("exited with status 2: migrations that failed: populate_missing_availability_zones");
    const [zone] = await sql(rig, `SELECT availability_zone FROM nova.instances WHERE uuid = '${server.id}'`);
    expect(zone).toBe("repaired");
    await sql(rig, "ALTER TABLE nova.instances DROP CONSTRAINT refused");
  });

  test("has its server ACTIVE after that, and brings others to ACTIVE on both nodes", async () => {
    const [pod = ""] = podsOf(rig, "nova-api");
    const { containers } = rig.get<{ spec: { containers: { image: string }[] } }>("pod", pod).spec;
    expect(containers[0]?.image).toBe(`${REGISTRY}/nova:${NEXT}`);
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: COMPUTE });
    expect((await computesUp(rig)).toSorted()).toEqual([CONTROL, COMPUTE]);
    for (const host of [CONTROL, COMPUTE]) {
      const booted = await bootServer(rig, `after-${host}`, host);
      expect(booted.status).toBe("ACTIVE");
      const ports = ["ovn-nbctl", "--no-leader-only", "lsp-list", `neutron-${booted.network}`];
      expect(await rig.inContainer("cloud-ovn-nb-0", "ovn-nb", ...ports)).toContain(booted.port);
    }
  });

  test("has its servers, networks and ports again after the loss of all disks, and the same token is accepted", async () => {
    const token = await adminToken(rig);
    const before = await everythingOf(rig, token);
    expect(before).toMatchObject({ servers: expect.arrayContaining(["before"]) });
    expect(before.logicalPorts).toContain(server.port);
    rig = await lostAndRestored(rig, {
      name: "a whole cloud",
      rig: options,
      deployment: (more) => cloudOf(NEXT, more),
      tooLate: (late) => makeImageAndFlavor(late, "too late"),
    });
    expect(await everythingOf(rig, token)).toEqual(before);
    // From 2023.1 on nova-compute starts on a node that has served only with the identity that was on its disk.
    await eventually(TIMEOUT, async () => (await computesUp(rig)).length === 2);
    expect(await bootServer(rig, "again", COMPUTE)).toMatchObject({ status: "ACTIVE" });
  });
});

/** Names of what the APIs list, and of ports in OVN's northbound database and in the southbound one. */
async function everythingOf(rig: Rig, token: string) {
  const column = async (database: "nb" | "sb", table: string, name: string): Promise<string[]> => {
    const find = [`ovn-${database}ctl`, "--no-leader-only", "--bare", `--columns=${name}`, "list", table];
    const printed = await rig.inContainer(`cloud-ovn-${database}-0`, `ovn-${database}`, ...find);
    return printed
      .split("\n")
      .filter((line) => line !== "")
      .toSorted();
  };
  return {
    ...(await namesIn(rig, token)),
    ...(await namesNow(rig)),
    logicalPorts: await column("nb", "Logical_Switch_Port", "name"),
    boundPorts: await column("sb", "Port_Binding", "logical_port"),
  };
}
