import { Secret, type KubernetesClient } from "@causeway/kubernetes";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stopWorkload } from "../../workloads/workloads.ts";
import { deleteDriverObject, readDriver } from "./driver.ts";

const signal = AbortSignal.timeout(60_000);
const trustee = "8f5e1b0c2a6d4e5f9a7b3c1d2e4f6a8b";
const namespace = "kube-system";
const all = { users: true, others: true };
const cloudConfig = `[Global]\nuser-id=${trustee}\npassword=secret\n`;

let stage: Stage;
let client: KubernetesClient;

const create = (path: string, body: Readonly<Record<string, unknown>>) => client.request("POST", path, { body });
const core = `/api/v1/namespaces/${namespace}`;
const apps = `/apis/apps/v1/namespaces/${namespace}`;
const secret = (name: string, value: string) =>
  create(`${core}/secrets`, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    data: { "cloud-config": Buffer.from(value).toString("base64") },
  });
const map = (name: string, value: string) =>
  create(`${core}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { value } });
const containers = [{ name: "one", image: "example.com/one:1" }];
const workload = (path: string, kind: string, name: string, more: object, pod: object = {}) =>
  create(`${apps}/${path}`, {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, namespace },
    spec: {
      ...more,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers, ...pod } },
    },
  });
const usesCloudConfig = { volumes: [{ name: "config", secret: { secretName: "cinder-csi-cloud-config" } }] };

beforeAll(async () => {
  stage = await openStage();
  ({ client } = stage);
  await workload("daemonsets", "DaemonSet", "openstack-cloud-controller-manager", {});
  await workload("statefulsets", "StatefulSet", "csi-cinder-controllerplugin", { serviceName: "s" }, usesCloudConfig);
  await workload("daemonsets", "DaemonSet", "csi-cinder-nodeplugin", {}, usesCloudConfig);
  // The migration does not stop it: with another ingress controller it is the user's own.
  await workload("statefulsets", "StatefulSet", "octavia-ingress-controller", { serviceName: "s" });
  await secret("cinder-csi-cloud-config", cloudConfig);
  await secret("os-trustee", trustee);
  await secret("backup", `user: ${trustee}`);
  await secret("unrelated", "user: another");
  await map("own-config", cloudConfig);
  await create(`${core}/pods`, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "backup", namespace },
    spec: {
      containers: [
        { ...containers[0], env: [{ name: "P", valueFrom: { secretKeyRef: { name: "os-trustee", key: "p" } } }] },
      ],
    },
  });
  for (const kind of ["DaemonSet", "StatefulSet"] as const) {
    const name = kind === "DaemonSet" ? "openstack-cloud-controller-manager" : "csi-cinder-controllerplugin";
    await stopWorkload(client, { kind, name }, signal);
  }
});
afterAll(() => stage.close());

const text = ({ kind, name }: { readonly kind: string; readonly name: string }) => `${kind} ${name}`;

test("the driver has what the migration stopped, its node plugin and its passwords, and nothing else", async () => {
  const { objects, users, others } = await readDriver(client, trustee, all, signal);
  expect(objects.map(text)).toEqual([
    "DaemonSet openstack-cloud-controller-manager",
    "StatefulSet csi-cinder-controllerplugin",
    "DaemonSet csi-cinder-nodeplugin",
    "Secret os-trustee",
    "Secret cinder-csi-cloud-config",
  ]);
  expect(users).toEqual(["Pod kube-system/backup, which uses Secret os-trustee,"]);
  expect(others.toSorted()).toEqual(["ConfigMap kube-system/own-config", "Secret kube-system/backup"]);
});

test("an unknown trustee is searched for in no object", async () => {
  const { objects, kept, users, others } = await readDriver(client, "", all, signal);
  expect(others).toEqual([]);
  // Whose they are is not known either.
  expect(objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
  expect(kept).toEqual(["Secret kube-system/os-trustee", "Secret kube-system/cinder-csi-cloud-config"]);
  expect(users).toEqual([]);
});

test("a Secret with the driver's name and a user's own credentials is kept, and pods may use it", async () => {
  const mine = { "cloud-config": Buffer.from("user-id=mine\n").toString("base64") };
  const write = (data: Readonly<Record<string, string>>) =>
    client.patch(Secret, { namespace, name: "os-trustee" }, { type: "merge", body: { data } });
  const before = await client.get(Secret, { namespace, name: "os-trustee" });
  await write(mine);
  const { objects, kept, users } = await readDriver(client, trustee, all, signal);
  expect(objects.map(text)).not.toContain("Secret os-trustee");
  expect(kept).toEqual(["Secret kube-system/os-trustee"]);
  expect(users).toEqual([]);
  await write(before.data ?? {});
});

test("objects of the driver that are deleted are not found again, and a pod that used one still is", async () => {
  const { objects } = await readDriver(client, trustee, all, signal);
  for (let run = 0; run < 2; run += 1) for (const one of objects) await deleteDriverObject(client, one, signal);
  const left = await readDriver(client, trustee, all, signal);
  expect(left.objects).toEqual([]);
  expect(left.users).toHaveLength(1);
  await client.request("DELETE", `${core}/pods/backup?gracePeriodSeconds=0`);
  expect((await readDriver(client, trustee, all, signal)).users).toEqual([]);
  // It is no workload that the migration stopped.
  await client.request("GET", `${apps}/statefulsets/octavia-ingress-controller`);
});

test("the node plugin of another installation is not the driver's", async () => {
  await workload("daemonsets", "DaemonSet", "csi-cinder-nodeplugin", {});
  expect((await readDriver(client, trustee, all, signal)).objects).toEqual([]);
});
