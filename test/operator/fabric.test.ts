/** Checks of nodes before anything of the network runs on them or changes there. */
import { DaemonSet, Node } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test("a node that fails its check holds back the network until it passes, and a change of what is required; a node that is away does not", async () => {
  const w = (world = await OperatorWorld.start(2));
  w.fateOf = (component) => (component === "host-preflight" ? "crashes" : "runs");
  w.runOperator();
  await w.createDeployment();
  const failed = await w.until("the check failed", async () => {
    const found = await w.component("host-preflight");
    return found?.state === "Failed" && found;
  });
  expect(failed.step).toMatch(/^pod cloud-host-preflight-.*container host-preflight/);
  await w.settle();
  expect(w.started).not.toContain("openvswitch");
  expect((await w.component("ovn-controller"))?.rootCause).toMatch(/^host-preflight: pod cloud-host-preflight/);
  const replace = async () => {
    for (const { metadata } of (await w.pods()).filter(({ metadata: { name } }) =>
      name.startsWith("cloud-host-preflight"),
    ))
      await w.deletePod(metadata.name);
  };
  w.fateOf = () => "runs";
  await replace();
  await w.whenReady();
  const switches = async () =>
    (await w.list(DaemonSet))
      .filter(({ metadata }) => metadata.name.startsWith("cloud-openvswitch"))
      .map(({ metadata }) => metadata.generation);
  const before = await switches();
  w.fateOf = (component) => (component === "host-preflight" ? "crashes" : "runs");
  await w.change({
    network: { bgp: { asn: 64_512, peers: ["eth9"] } },
    services: [{ name: "ovn", image: "registry.example.org/other" }],
  });
  await w.until("the check fails", async () => (await w.component("host-preflight"))?.state === "Failed");
  await w.settle();
  expect(await switches()).toEqual(before);
  expect(w.started).not.toContain("frr");
  for (const node of (await w.client.list(Node)).items)
    await w.client.patch(
      Node,
      { namespace: "", name: node.metadata.name },
      {
        type: "merge",
        body: {
          status: {
            conditions: [
              {
                type: "Ready",
                status: "Unknown",
                reason: "Gone",
                message: "",
                lastTransitionTime: "2026-01-01T00:00:00Z",
              },
            ],
          },
        },
      },
      { subresource: "status" },
    );
  await w.touchDeployment();
  await w.until("what is up is not held back", async () => (await w.component("host-preflight"))?.state !== "Failed");
});
