import { startApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, Namespace, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  awaitedAnnotation,
  handOverAnnotation,
  idAnnotation,
  initializedAnnotation,
  managedBy,
  managedByLabel,
  ownerAnnotation,
  releasedAnnotation,
} from "../tenant.ts";
import { createPodsTransfer } from "./transfer.ts";

const signal = new AbortController().signal;
const web = { metadata: { namespace: "default", name: "web" } };
let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubernetesClient;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
});
afterAll(async () => {
  await client.close();
  await server.close();
});

const key = { namespace: "", name: "hcp-web" };
const management = { from: "uid-a", to: "uid-b" };
/** Another write changes the namespace right before this one, once. */
function disturbed(): KubernetesClient {
  let isDone = false;
  const patch: KubernetesClient["patch"] = async (type, at, what, more) => {
    if (!isDone) {
      isDone = true;
      const body = { metadata: { labels: { disturbed: "true" } } };
      await client.patch(Namespace, { ...key, name: at.name }, { type: "merge", body });
    }
    return client.patch(type, at, what, more);
  };
  return new Proxy(client, {
    get: (target, name) => {
      if (name === "patch") return patch;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

const annotations = async () => (await client.get(Namespace, key)).metadata.annotations ?? {};

test("a request that no manager answers, as to a mistyped owner, is withdrawn, and another one can follow", async () => {
  await client.create(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: key.name,
      labels: { [managedByLabel]: managedBy },
      annotations: { [idAnnotation]: "default.web", [ownerAnnotation]: "a", [initializedAnnotation]: "true" },
    },
  });
  const to = (owner: string) =>
    createPodsTransfer({ client, from: "a", to: owner, management, clock: systemClock, timeout: 0 });
  await expect(to("typo").handOver(web, signal)).rejects.toMatchObject({ code: "MOVE_NOT_ACKNOWLEDGED" });
  const left = await annotations();
  for (const each of [handOverAnnotation, releasedAnnotation, awaitedAnnotation]) expect(left).not.toHaveProperty(each);
  await to("b").check([web], signal);
  await expect(to("b").handOver(web, signal)).rejects.toMatchObject({ code: "MOVE_NOT_ACKNOWLEDGED" });
});

test("a request that is refused is withdrawn, also where the namespace changes meanwhile", async () => {
  const said = (uid: string, settings: object) => JSON.stringify({ id: "1", management: uid, settings });
  await client.create(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: "hcp-refused",
      labels: { [managedByLabel]: managedBy },
      annotations: {
        [idAnnotation]: "default.refused",
        [ownerAnnotation]: "a",
        [initializedAnnotation]: "true",
        [handOverAnnotation]: JSON.stringify({ id: "1", to: "b" }),
        [releasedAnnotation]: said("uid-a", { registry: "1" }),
        [awaitedAnnotation]: said("uid-b", { registry: "2" }),
      },
    },
  });
  const transfer = createPodsTransfer({ client: disturbed(), from: "a", to: "b", management, clock: systemClock });
  const refused = { metadata: { namespace: "default", name: "refused" } };
  const handOver = transfer.handOver(refused, signal);
  await expect(handOver).rejects.toMatchObject({ code: "MOVE_SETTINGS_DIFFER" });
  const { metadata } = await client.get(Namespace, { namespace: "", name: "hcp-refused" });
  expect(metadata.labels).toHaveProperty("disturbed");
  expect(metadata.annotations).not.toHaveProperty([handOverAnnotation]);
});
