/** An upgrade whose online migrations fail: everything runs in the new release, and only the next upgrade waits. */
import { Deployment, Job } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { NAMESPACE, OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const MIGRATIONS = "nova-online-migrations";
const FAILED = "migrations that failed: populate_instance_uuids";

async function releases(w: OperatorWorld): Promise<string[]> {
  const images = (await w.pods()).flatMap(({ spec }) => spec.containers.map(({ image = "" }) => image.split(":")[1]));
  return [...new Set(images.map(String))].toSorted();
}

test("a migration of rows that fails is named, and holds back the next upgrade and nothing else, until it ends well", async () => {
  const w = (world = await OperatorWorld.start(1));
  w.runOperator();
  await w.createDeployment({ release: "2022.2", services: [{ name: "heat", enabled: false }] });
  await w.whenReady();
  w.fateOf = (component) => (component === MIGRATIONS ? "crashes" : "runs");
  w.saysOf = (component, container) => (component === MIGRATIONS && container === MIGRATIONS ? FAILED : undefined);
  await w.change({ release: "2023.1" });
  await w.until("the migrations failed", async () => (await w.component(MIGRATIONS))?.state === "Failed", 30_000);
  await w.settle();

  const cause = `${MIGRATIONS}: pod cloud-${MIGRATIONS}-`;
  expect((await w.component(MIGRATIONS))?.rootCause).toContain(cause);
  expect(await w.condition("DataMigrated")).toMatchObject({ status: "False", reason: "StepFailed" });
  expect((await w.condition("DataMigrated"))?.message).toContain(FAILED);
  // Everything else is over.
  const { upgrade, release } = (await w.deployment()).status ?? {};
  expect(release).toBe("2022.2");
  expect(upgrade).toMatchObject({ to: "2023.1", step: "DataMigrated" });
  expect(await w.condition("SchemasContracted")).toMatchObject({ status: "True" });

  // The next upgrade waits, as the condition says.
  await w.change({ release: "2023.2" });
  await w.settle();
  expect(await w.condition("UpgradeHeld")).toMatchObject({ status: "True", reason: "EarlierUpgradeUnfinished" });
  const { message } = (await w.condition("UpgradeHeld")) ?? {};
  expect(message).toContain("the upgrade to 2023.2 comes after the one to 2023.1");
  expect(message).toContain(FAILED);
  expect(await releases(w)).not.toContain("2023.2");

  // Other changes do not.
  await w.change({
    services: [
      { name: "heat", enabled: false },
      { name: "glance", replicas: 2 },
    ],
  });
  await w.until("Glance has another pod", async () => {
    const glance = await w.client.get(Deployment, { namespace: NAMESPACE, name: "cloud-glance-api" });
    return glance.spec.replicas === 2 && glance.status?.availableReplicas === 2;
  });
  await w.settle();
  expect(await releases(w)).not.toContain("2023.2");

  // The rows were repaired, and the Job runs again where it is deleted.
  w.fateOf = () => "runs";
  for (const job of (await w.list(Job)).filter(({ metadata }) => metadata.name.includes(MIGRATIONS)))
    await w.client.delete(Job, { namespace: NAMESPACE, name: job.metadata.name }, { propagationPolicy: "Background" });
  await w.until("the next upgrade is over", async () => (await w.deployment()).status?.release === "2023.2");
  await w.whenReady();
  await w.settle();
  expect(await releases(w)).toEqual(["2023.2"]);
  expect(await w.condition("UpgradeHeld")).toMatchObject({ status: "False" });
});
