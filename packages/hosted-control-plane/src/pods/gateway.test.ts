import type { Deployment, Secret, Service } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import { apiClientsOf } from "./testing/api-clients.ts";
import { plan } from "./plan.ts";
import { namespaceOf } from "./tenant.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { own, specOf } from "./testing/spec.ts";

const gateway = { domain: "api.example.org", port: 443, nodeAddress: "198.18.0.1", namespace: "gateways" };
const behind = (changes: Partial<ControlPlaneSpec> = {}): ControlPlaneSpec =>
  specOf({ pods: own({ exposure: "Gateway" }), ...changes });
const namespace = namespaceOf("management", "default.web");
const serverName = `${namespace.slice("hcp-".length)}.api.example.org`;

describe("a control plane behind a gateway", () => {
  test("has a Service inside the service cluster only, with the server name that leads to it", () => {
    const cluster = new PlayedCluster({ gateway });
    cluster.complete(behind());
    const service = cluster.live.get("Service/kube-apiserver") as Service;
    expect(service.metadata.annotations).toMatchObject({ "controlplane.causeway.dev/server-name": serverName });
    expect(service.spec).toMatchObject({ type: "ClusterIP", ports: [{ name: "api", port: 6443 }] });
  });

  test("says at its Service that it hibernates, from the request on, and no more once it is to wake", () => {
    const cluster = new PlayedCluster({ gateway });
    const annotations = () => (cluster.live.get("Service/kube-apiserver") as Service).metadata.annotations;
    cluster.complete(behind());
    expect(annotations()).not.toHaveProperty(["controlplane.causeway.dev/hibernated"]);
    cluster.settle(behind({ replicas: 0 }));
    expect(annotations()).toMatchObject({
      "controlplane.causeway.dev/hibernated": "true",
      "controlplane.causeway.dev/server-name": serverName,
    });
    cluster.complete(behind());
    expect(annotations()).not.toHaveProperty(["controlplane.causeway.dev/hibernated"]);
  });

  test("is published at the gateway, and listens where each node's proxy leads", () => {
    const cluster = new PlayedCluster({ gateway });
    const { status } = cluster.complete(behind());
    expect(status).toMatchObject({ ready: true, endpoint: { host: serverName, port: 443 } });
    expect(status.address).toBeUndefined();
    const { spec } = cluster.live.get("Deployment/kube-apiserver") as Deployment;
    const command = spec.template.spec.containers[0]?.command ?? [];
    expect(command).toContain("--secure-port=6443");
    expect(command).toContain("--advertise-address=198.18.0.1");
    expect(cluster.joinedAt).toBe(`https://${serverName}:443`);
  });

  test("has the server name in its certificate", () => {
    const cluster = new PlayedCluster({ gateway });
    cluster.complete(behind());
    const secret = cluster.live.get("Secret/kube-apiserver") as Secret;
    // The played cluster issues nothing: the request is what is judged.
    const lost = { ...secret, metadata: { ...secret.metadata, annotations: {} } };
    cluster.live.set("Secret/kube-apiserver", lost);
    const issued = plan(cluster.observe(behind()), now).steps.find(({ type }) => type === "issue");
    const names = JSON.stringify(issued);
    expect(names).toContain(`"${serverName}"`);
    expect(names).toContain('"kubernetes.default.svc"');
  });

  test("keeps the published name when the operator's domain changes", () => {
    const cluster = new PlayedCluster({ gateway });
    cluster.complete(behind());
    const moved = new PlayedCluster({ gateway: { ...gateway, domain: "other.example.org" } });
    for (const [id, object] of cluster.live) moved.live.set(id, object);
    Object.assign(moved, { namespace: cluster.namespace, pods: cluster.pods, joinedAt: cluster.joinedAt });
    const published = behind({ endpoint: { host: serverName, port: 443 } });
    expect(moved.complete(published).status.endpoint).toEqual({ host: serverName, port: 443 });
    expect(moved.performed).toEqual([]);
  });

  test.each<[string, ControlPlaneSpec["endpoint"]]>([
    ["the name of another control plane", { host: `blog-${namespace.slice(-10)}.api.example.org`, port: 0 }],
    ["a name that only begins as its own", { host: `${serverName.split(".")[0]}x.api.example.org`, port: 0 }],
    ["an address", { host: "203.0.113.9", port: 0 }],
    ["another port", { host: "", port: 6443 }],
  ])("cannot have %s", (_, endpoint) => {
    const cluster = new PlayedCluster({ gateway });
    const { status } = cluster.settle(behind({ endpoint }));
    expect(status.problem).toMatchObject({ code: "PODS_ENDPOINT_REFUSED", actor: "user" });
    expect(cluster.performed).toEqual([]);
  });

  test("publishes the gateway's address for people, if the operator gives one", () => {
    const cluster = new PlayedCluster({ gateway: { ...gateway, address: "203.0.113.9" } });
    expect(cluster.complete(behind()).status).toMatchObject({ address: "203.0.113.9", endpoint: { host: serverName } });
  });

  test("is reached from the gateway's namespace, the operator's, and its own; one with a load balancer from anywhere", () => {
    const cluster = new PlayedCluster({ gateway, operatorNamespace: "operators" });
    cluster.complete(behind());
    expect(apiClientsOf(cluster)).toEqual([
      { podSelector: {} },
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "gateways" } } },
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "operators" } } },
    ]);
    const open = new PlayedCluster({ gateway });
    open.complete(specOf());
    expect(apiClientsOf(open)).toBeUndefined();
  });
});
