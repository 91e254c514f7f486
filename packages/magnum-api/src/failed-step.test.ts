/** What tenants read of a step that failed: never an address or an error of the operator's cluster. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { HostedControlPlane, MagnumCluster } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { Event, type KubernetesClient } from "@causeway/kubernetes";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
/** What applying a control plane fails with. */
let failure: Error | undefined;

function through(client: KubernetesClient): KubernetesClient {
  return new Proxy(client, {
    get(target, name) {
      const found = Reflect.get(target, name) as unknown;
      if (name !== "apply") return typeof found === "function" ? (found.bind(target) as unknown) : found;
      const apply: KubernetesClient["apply"] = async (type, object, options) => {
        if (failure !== undefined && object.kind === HostedControlPlane.kind) throw failure;
        return target.apply(type, object, options);
      };
      return apply;
    },
  });
}

let uuid: string;
beforeAll(async () => {
  stage = await openStage({ through });
  const template = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
  const { body } = await stage.call("demo", "POST", "/v1/clustertemplates", {
    body: { ...template, external_network_id: "public" },
  });
  failure = new CausewayError("KUBERNETES_FORBIDDEN", secret);
  const made = await stage.call("demo", "POST", "/v1/clusters", { body: { cluster_template_id: body["uuid"] } });
  uuid = String(made.body["uuid"]);
});
afterAll(() => stage.close());

const secret = "https://10.0.0.1:6443 refused token abc of causeway-system";

/** Read after a change of the object: the controller would wait longer after each failure. */
async function reason(): Promise<string> {
  const [row] = (await stage.client.list(MagnumCluster)).items;
  const { namespace = "", name = "" } = row?.metadata ?? {};
  const body = { metadata: { annotations: { touched: crypto.randomUUID() } } };
  await stage.client.patch(MagnumCluster, { namespace, name }, { type: "merge", body });
  return String((await stage.call("demo", "GET", `/v1/clusters/${uuid}`)).body["status_reason"]);
}

it.each<[string, Error, RegExp]>([
  [
    "a failed step says that the management cluster refused it",
    new CausewayError("KUBERNETES_FORBIDDEN", secret),
    /^apply: the management cluster refused the object; the operator's log has the reason \(KUBERNETES_FORBIDDEN\)/,
  ],
  [
    "a failed step says that the management cluster is away",
    new CausewayError("KUBERNETES_UNREACHABLE", secret),
    /^apply: the management cluster refused the object; the operator's log has the reason \(KUBERNETES_UNREACHABLE\)/,
  ],
  [
    "the program has a defect",
    new TypeError(secret),
    /^apply: an unexpected error; the operator's log has it \(INTERNAL\)/,
  ],
  [
    "the object is wrong, which the tenant may correct",
    new CausewayError("KUBERNETES_INVALID", "spec.version: v1.99.0 is not served"),
    /^apply: spec\.version: v1\.99\.0 is not served \(KUBERNETES_INVALID\)/,
  ],
  [
    "a service of the tenant's cloud refused it",
    new CausewayError("OPENSTACK_QUOTA_EXCEEDED", "Quota exceeded for instances (req-1)"),
    /^apply: Quota exceeded for instances \(req-1\) \(OPENSTACK_QUOTA_EXCEEDED\)/,
  ],
])("%s", async (_, error, says) => {
  failure = error;
  await expect.poll(reason, { timeout: 40_000, interval: 200 }).toMatch(says);
  const [row] = (await stage.client.list(MagnumCluster)).items;
  const events = await stage.client.list(Event, { namespace: row?.metadata.namespace ?? "" });
  expect(JSON.stringify([row?.status, events.items])).not.toContain("10.0.0.1");
});
