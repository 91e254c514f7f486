import { createAuthority, createRequest, verifyChain } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import type { Simulator } from "../interface.ts";
import { clientOf, send, startClient, type Client } from "../testing-client.ts";

let client: Client;
afterEach(() => client.simulator.close());

type Json = Readonly<Record<string, never>>;
const idOf = (body: unknown, kind: string): string => String((body as Readonly<Record<string, Json>>)[kind]?.["id"]);

/** A stack as Magnum's driver nests them: a resource group of one node, whose stack has a port. */
async function stackOfPort(): Promise<{ path: string; port: string; network: string }> {
  const network = idOf(
    (await client.call("POST", "/network/v2.0/networks", { network: { name: "n" } })).body,
    "network",
  );
  const port = idOf(
    (await client.call("POST", "/network/v2.0/ports", { port: { network_id: network, name: "p" } })).body,
    "port",
  );
  const node = {
    type: "kubeminion.yaml",
    resources: { kube_minion_eth0: { type: "OS::Neutron::Port", resource_id: port } },
  };
  const data = {
    template: { parameters: { password: { hidden: true } }, outputs: { api_address: { value: "10.0.0.5" } } },
    environment: { parameters: { password: "secret", cluster_uuid: "u" } },
    resources: {
      network: { type: "OS::Neutron::Net", resource_id: network },
      kube_minions: { type: "OS::Heat::ResourceGroup", resources: { "0": node } },
    },
  };
  const body = { stack_name: "web-abc", adopt_stack_data: JSON.stringify(data) };
  const made = await client.call("POST", `/orchestration/v1/${client.projectId}/stacks`, body);
  expect(made.status).toBe(201);
  return { path: `/orchestration/v1/${client.projectId}/stacks/web-abc/${idOf(made.body, "stack")}`, port, network };
}

/** Heat reads a stack after it was deleted, too. */
const stateOf = async (path: string): Promise<unknown> =>
  ((await client.call("GET", path)).body as { stack?: { stack_status?: unknown } }).stack?.stack_status;

const stateAfter = async (path: string): Promise<unknown> => {
  for (let i = 0; i < 200 && (await stateOf(path)) !== "DELETE_COMPLETE"; i += 1)
    await new Promise((resolve) => setTimeout(resolve, 5));
  return stateOf(path);
};

test("an adopted stack is read by name, with nested resources to the depth that is requested, outputs, and without hidden parameters", async () => {
  client = await startClient();
  const { path, port } = await stackOfPort();
  const { body } = await client.call("GET", path);
  expect(body).toMatchObject({
    stack: {
      stack_name: "web-abc",
      stack_status: "CREATE_COMPLETE",
      parameters: { password: "******", cluster_uuid: "u" },
      outputs: [{ output_key: "api_address", output_value: "10.0.0.5" }],
    },
  });
  const names = async (query: string) => {
    const found = (await client.call("GET", `${path}/resources${query}`)).body as {
      resources: { resource_name: string; physical_resource_id: string }[];
    };
    return found.resources;
  };
  expect((await names("")).map((r) => r.resource_name)).toEqual(["network", "kube_minions"]);
  const deep = await names("?nested_depth=2");
  expect(deep.map((r) => r.resource_name)).toEqual(["network", "kube_minions", "0", "kube_minion_eth0"]);
  expect(deep[3]?.physical_resource_id).toBe(port);
  expect(deep[3]).toMatchObject({ parent_resource: "0" });
  const root = `/orchestration/v1/${client.projectId}/stacks`;
  expect((await client.call("GET", root)).body).toMatchObject({ stacks: [{ stack_name: "web-abc" }] });
  expect((await client.call("GET", `${root}?show_nested=True`)).body).toHaveProperty("stacks.length", 3);
  expect((await client.call("GET", `${root}/nothing`)).status).toBe(404);
  const other = await clientOf(client.simulator, "alt");
  expect((await other.call("GET", path)).status).toBe(403);
});

test("abandoning a stack leaves what it is made of, and its data can be adopted again; where the operator has not enabled it, it is refused", async () => {
  client = await startClient({ heatMagnum: true });
  const { path, port } = await stackOfPort();
  client.simulator.setOutcomes([{ operation: "stack.abandon", outcome: "error" }]);
  expect(await client.call("DELETE", `${path}/abandon`)).toMatchObject({
    status: 400,
    body: { error: { type: "NotSupported" } },
  });
  client.simulator.setOutcomes([]);
  const { status, body } = await client.call("DELETE", `${path}/abandon`);
  expect(status).toBe(200);
  expect(await stateOf(path)).toBe("DELETE_COMPLETE");
  expect((await client.call("DELETE", path)).status).toBe(404);
  expect(client.simulator.inventory().filter((line) => line.startsWith("stack "))).toEqual([]);
  expect((await client.call("GET", `/network/v2.0/ports/${port}`)).status).toBe(200);
  const again = { stack_name: "web-abc", adopt_stack_data: JSON.stringify(body) };
  expect((await client.call("POST", `/orchestration/v1/${client.projectId}/stacks`, again)).status).toBe(201);
  expect(client.simulator.inventory().filter((line) => line.startsWith("stack "))).toHaveLength(3);
});

test("deleting a stack deletes what it is made of", async () => {
  client = await startClient();
  const { path, port, network } = await stackOfPort();
  expect((await client.call("DELETE", path)).status).toBe(204);
  expect(await stateAfter(path)).toBe("DELETE_COMPLETE");
  expect((await client.call("GET", `/network/v2.0/ports/${port}`)).status).toBe(404);
  expect((await client.call("GET", `/network/v2.0/networks/${network}`)).status).toBe(404);
});

test("the older Magnum is there only where it is requested, signs with a cluster's authorities, and refuses changes by policy", async () => {
  const simulator: Simulator = await startSimulator({ heatMagnum: true });
  client = await clientOf(simulator);
  const kubernetes = await createAuthority({ commonName: "web", lifetime: 86_400_000 });
  const etcd = await createAuthority({ commonName: "web-etcd", lifetime: 86_400_000 });
  const row = {
    cluster: { uuid: "u1", name: "web", project_id: client.projectId, stack_id: "s" },
    template: { uuid: "t1", name: "t" },
    nodegroups: [{ uuid: "g1", name: "default-worker" }],
    authorities: { kubernetes, etcd, frontProxy: kubernetes },
  };
  const control = (path: string, body: unknown) =>
    send(`${client.origin}/_control/magnum${path}`, { method: "POST", body });
  expect((await control("/clusters", row)).status).toBe(201);
  expect((await client.call("GET", "/container-infra/v1/clusters/web")).body).toMatchObject({
    uuid: "u1",
    stack_id: "s",
  });
  const { request } = await createRequest({ commonName: "peer" });
  const signed = await client.call("POST", "/container-infra/v1/certificates", {
    cluster_uuid: "u1",
    csr: request,
    ca_cert_type: "etcd",
  });
  expect(verifyChain((signed.body as { pem: string }).pem, etcd.certificate)).toBe(true);
  const patch = () => client.call("PATCH", "/container-infra/v1/clusters/u1", [{ op: "remove", path: "/labels/none" }]);
  expect((await patch()).status).toBe(400);
  await control("/policy", { denied: ["u1"] });
  expect((await patch()).status).toBe(403);
  const plain = await startClient();
  expect((await plain.call("GET", "/container-infra/v1/clusters")).status).toBe(404);
  await plain.simulator.close();
});
