import { AddonSet } from "@causeway/api";
import { ConfigMap, CustomResourceDefinition, Namespace, Secret } from "@causeway/kubernetes";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startWorld, type World } from "../testing/world.ts";
import { Application } from "./application.ts";
import { argoFinalizer, argoLabels, cascadingFinalizer } from "./names.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let world: World;
beforeEach(async () => {
  world = await startWorld();
  const { client } = world;
  await client.create(CustomResourceDefinition, applicationCrd);
  const labels = { "addons.causeway.dev/argo-cd": "true" };
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "argocd", labels } });
  await client.create(Secret, kubeconfig("first"));
});
afterEach(() => world.stop());

/** Of Argo CD's, with neither a schema nor a status of its own. */
const applicationCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "applications.argoproj.io" },
  spec: {
    group: "argoproj.io",
    scope: "Namespaced",
    names: { kind: "Application", plural: "applications", singular: "application", listKind: "ApplicationList" },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} as unknown as CustomResourceDefinition;

function kubeconfig(token: string): Secret {
  const text =
    "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: a, user: b}}]," +
    ` clusters: [{name: a, cluster: {server: "https://192.0.2.1:6443"}}], users: [{name: b, user: {token: ${token}}}]}`;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: "default",
      name: "tenant-kubeconfig",
      labels: { "cluster.x-k8s.io/cluster-name": "tenant" },
    },
    type: "cluster.x-k8s.io/secret",
    data: { value: Buffer.from(text).toString("base64") },
  };
}

const argoCD = { namespace: "argocd" };
const web = { name: "web", application: { repoURL: "https://git.example/apps", path: "web" } };
const late = { name: "late", wave: 1, application: { repoURL: "https://git.example/apps", path: "late" } };
const note = { name: "note", wave: 2, manifests: "{apiVersion: v1, kind: ConfigMap, metadata: {name: note}}" };

const applications = async () => (await world.client.list(Application, { namespace: "argocd" })).items;
const named = async (addon: string) =>
  (await applications()).find(({ metadata }) => metadata.labels?.["addons.causeway.dev/addon"] === addon);
const clusterSecrets = async () =>
  (await world.client.list(Secret, { namespace: "argocd", labelSelector: `${argoLabels.secretType}=cluster` })).items;
const stateOf = async (addon: string) => (await world.set()).status?.addons?.find(({ name }) => name === addon)?.state;

/** What Argo CD writes when it has synced an Application. */
async function report(addon: string, health: string): Promise<void> {
  const live = await named(addon);
  if (!live) throw new Error(`there is no Application of ${addon}`);
  const { source, destination } = live.spec;
  const status = { sync: { status: "Synced", comparedTo: { source, destination } }, health: { status: health } };
  const { namespace = "", name } = live.metadata;
  await world.client.patch(Application, { namespace, name }, { type: "merge", body: { status } });
}

test("the controller of AddonSets hands add-ons to Argo CD wave by wave, reads its status, and follows the cluster's credentials", async () => {
  await world.declare([web, late, note], { argoCD });
  await world.until("the first Application", async () => (await named("web")) !== undefined);
  expect(await named("late")).toBeUndefined();
  expect(await clusterSecrets()).toHaveLength(1);
  await report("web", "Progressing");
  await world.until("unhealthy", async () => (await stateOf("web")) === "Unhealthy");
  expect(await named("late")).toBeUndefined();
  await report("web", "Healthy");
  await world.until("the second Application", async () => (await named("late")) !== undefined);
  await report("late", "Healthy");
  await world.until("what is applied here", async () =>
    world.tenant.find(ConfigMap, { namespace: "default", name: "note" }).then((found) => found !== undefined),
  );
  await world.until("applied", async () => (await stateOf("note")) === "Applied");

  await world.client.patch(
    Secret,
    { namespace: "default", name: "tenant-kubeconfig" },
    {
      type: "merge",
      body: { data: kubeconfig("second").data },
    },
  );
  await world.until("new credentials", async () => {
    const [secret] = await clusterSecrets();
    return Buffer.from(secret?.data?.["config"] ?? "", "base64")
      .toString()
      .includes("second");
  });
});

test("the controller of AddonSets restores an Application, leaves what others set, and removes it without its objects", async () => {
  await world.declare([web], { argoCD });
  await world.until("the Application", async () => (await named("web")) !== undefined);
  const { metadata } = (await named("web")) as Application;
  const key = { namespace: "argocd", name: metadata.name };
  const body = { spec: { project: "other", revisionHistoryLimit: 3 } };
  await world.client.patch(Application, key, { type: "merge", body });
  await world.until("restored", async () => (await named("web"))?.spec.project === "default");
  expect((await named("web"))?.spec).toMatchObject({ revisionHistoryLimit: 3 });

  await world.client.patch(Application, key, {
    type: "merge",
    body: { metadata: { finalizers: [cascadingFinalizer] } },
  });
  await world.declare([note], { argoCD });
  // A cascading deletion would wait for Argo CD, which is not there.
  await world.until("removed", async () => (await applications()).length === 0);
  expect(await clusterSecrets()).toHaveLength(1);
});

test("the controller of AddonSets deletes Applications with their objects where that is wanted, and the Secret last", async () => {
  await world.declare([web], { argoCD, deletionPolicy: "Delete" });
  await world.until("the Application", async () => (await named("web")) !== undefined);
  expect((await world.set()).metadata.finalizers).toContain(argoFinalizer);
  await world.client.delete(AddonSet, { namespace: "default", name: "system" });
  await world.until("a cascading deletion", async () => {
    const found = (await named("web"))?.metadata;
    return found?.deletionTimestamp !== undefined && found.finalizers?.includes(cascadingFinalizer) === true;
  });
  expect(await clusterSecrets()).toHaveLength(1);
  // Argo CD has deleted the objects.
  const { metadata } = (await named("web")) as Application;
  const key = { namespace: "argocd", name: metadata.name };
  await world.client.patch(Application, key, { type: "merge", body: { metadata: { finalizers: null } } });
  await world.until("the set to be gone", async () =>
    world.client.find(AddonSet, { namespace: "default", name: "system" }).then((found) => found === undefined),
  );
  expect(await clusterSecrets()).toHaveLength(0);
});

test("the controller of AddonSets hands nothing to a namespace that has not consented", async () => {
  await world.client.patch(
    Namespace,
    { namespace: "", name: "argocd" },
    {
      type: "merge",
      body: { metadata: { labels: { "addons.causeway.dev/argo-cd": null } } },
    },
  );
  await world.declare([web], { argoCD });
  await world.until("refused", async () => (await stateOf("web")) === "Failed");
  expect(await applications()).toEqual([]);
  expect(await clusterSecrets()).toEqual([]);
  await expect(world.declare([{ ...web, manifests: "a: 1" }], { argoCD })).rejects.toThrow(/Argo CD applies it/);
  await expect(world.declare([{ name: "x", application: { repoURL: "r" } }], { argoCD })).rejects.toThrow(/a path/);
});
