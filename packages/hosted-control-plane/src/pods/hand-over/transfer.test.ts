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
  const to = (owner: string) => createPodsTransfer({ client, from: "a", to: owner, clock: systemClock, timeout: 0 });
  await expect(to("typo").handOver(web, signal)).rejects.toMatchObject({ code: "MOVE_NOT_ACKNOWLEDGED" });
  const left = await annotations();
  for (const each of [handOverAnnotation, releasedAnnotation, awaitedAnnotation]) expect(left).not.toHaveProperty(each);
  await to("b").check([web], signal);
  await expect(to("b").handOver(web, signal)).rejects.toMatchObject({ code: "MOVE_NOT_ACKNOWLEDGED" });
});
