/** Databases and brokers that operators of others run: their objects are written, read and waited for. */
import { OpenStackDeployment } from "@causeway/api";
import { CustomResourceDefinition, Job, Secret, StatefulSet } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { install, Percona, Rabbitmq } from "./other-operators.ts";
import { NAME, NAMESPACE, OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await OperatorWorld.start(1));
const operators = {
  percona: { use: "Always", image: "registry.example.org/pxc:8.0", proxyImage: "registry.example.org/haproxy:2.8" },
  rabbitmq: { use: "Auto" },
} as const;
const database = { namespace: NAMESPACE, name: "cloud-mariadb" };
const broker = { namespace: NAMESPACE, name: "cloud-rabbitmq" };

/** What the other operators report. */
const report = (w: OperatorWorld, type: typeof Percona, name: string, status: object) =>
  w.client.patch(type, { namespace: NAMESPACE, name }, { type: "merge", body: { status } }, { subresource: "status" });
const areReady = async (w: OperatorWorld): Promise<void> => {
  await report(w, Percona, "cloud-mariadb", { state: "ready", pxc: { size: 1, ready: 1 } });
  await report(w, Rabbitmq, "cloud-rabbitmq", { conditions: [{ type: "AllReplicasReady", status: "True" }] });
};
const message = async (w: OperatorWorld) => (await w.condition("ConfigurationValid"))?.message ?? "";

test("clusters of other operators are requested, waited for by their status, and used with their accounts", async () => {
  const w = await start();
  await install(w.client, Percona);
  await install(w.client, Rabbitmq);
  w.runOperator();
  await w.createDeployment({ operators });
  const waiting = await w.until("the database is waited for", async () => {
    const found = await w.component("keystone-db-init");
    return found?.state === "Waiting" && found.rootCause?.includes("Percona's operator") && found;
  });
  expect(waiting.waitingFor).toEqual(["mariadb"]);
  expect(await w.component("mariadb")).toMatchObject({ kind: "External", state: "Progressing" });
  expect(await w.client.get(Percona, database)).toMatchObject({
    spec: { pxc: { size: 1, image: "registry.example.org/pxc:8.0" }, haproxy: { enabled: true } },
  });
  expect((await w.client.get(Rabbitmq, broker)).spec).toMatchObject({ replicas: 1, persistence: { storage: "8Gi" } });
  await report(w, Percona, "cloud-mariadb", { state: "initializing", pxc: { size: 1, ready: 0 } });
  await w.until(
    "its own words",
    async () => (await w.component("mariadb"))?.step === "0 of 1 servers are ready; initializing",
  );
  await areReady(w);
  await w.whenReady();
  await w.settle();
  const names = (await w.list(StatefulSet)).map(({ metadata }) => metadata.name);
  expect(names.filter((name) => /mariadb|rabbitmq/.test(name))).toEqual([]);
  const jobs = JSON.stringify(await w.list(Job));
  expect(jobs).toContain('"name":"cloud-mariadb-passwords","items":[{"key":"root","path":"database.admin"}]');
  expect(jobs).toContain('"name":"cloud-rabbitmq-default-user"');
  const files = (await w.list(Secret)).map(({ data = {} }) =>
    Buffer.from(data["credentials.conf"] ?? "", "base64").toString(),
  );
  expect(files.some((file) => file.includes("@cloud-mariadb-haproxy.default.svc:3306/nova?"))).toBe(true);
  expect(files.some((file) => file.includes("@cloud-rabbitmq.default.svc:5672/nova"))).toBe(true);
  // What runs is not removed: neither by a change of the choice, nor with the deployment.
  const count = w.writes.length;
  await w.change({ operators: null });
  await w.until("the refusal", async () => /was removed, and mariadb is a PerconaXtraDBCluster/.test(await message(w)));
  await w.settle();
  expect(w.writes.slice(count).filter(({ verb }) => verb === "delete")).toEqual([]);
  await w.change({ operators });
  await w.whenReady();
  await w.client.delete(OpenStackDeployment, { namespace: NAMESPACE, name: NAME });
  await w.settle();
  expect((await w.client.get(Percona, database)).metadata.deletionTimestamp).toBeUndefined();
  expect((await w.client.get(Rabbitmq, broker)).metadata.deletionTimestamp).toBeUndefined();
});

test("an operator that is not installed is named, and with Auto StatefulSets run and remain", async () => {
  const w = await start();
  w.runOperator();
  await w.createDeployment({ operators });
  await w.until("the refusal", async () => /Percona's operator is not installed/.test(await message(w)));
  expect(w.started).toEqual([]);
  await w.change({ operators: { percona: { use: "Auto" } } });
  await w.whenReady();
  await install(w.client, Percona);
  await install(w.client, Rabbitmq);
  await w.settle();
  await w.touchDeployment();
  await w.whenReady();
  expect((await w.client.list(Percona, { namespace: NAMESPACE })).items).toEqual([]);
  await w.change({ operators: { percona: { use: "Always" } } });
  await w.until("the refusal", async () => /mariadb runs as a StatefulSet/.test(await message(w)));
  expect((await w.list(StatefulSet)).map(({ metadata }) => metadata.name)).toContain("cloud-mariadb");
});

test("an operator whose CRD is gone changes nothing that runs, and nothing begins with empty databases", async () => {
  const w = await start();
  await install(w.client, Percona);
  w.runOperator();
  await w.createDeployment({ operators: { percona: { ...operators.percona, use: "Auto" } } });
  await w.until("the object", async () => (await w.client.list(Percona, { namespace: NAMESPACE })).items.length > 0);
  await report(w, Percona, "cloud-mariadb", { state: "ready", pxc: { size: 1, ready: 1 } });
  await w.whenReady();
  await w.client.delete(CustomResourceDefinition, { namespace: "", name: "perconaxtradbclusters.pxc.percona.com" });
  await w.until("the refusal", async () => /not installed.*what runs is not changed/.test(await message(w)));
  await w.settle();
  expect((await w.list(StatefulSet)).map(({ metadata }) => metadata.name)).not.toContain("cloud-mariadb");
});
