import type { KubeObject } from "@causeway/kubernetes";
import { expect, it } from "vitest";
import { allKinds, convertObject } from "../../index.ts";

const convert = (object: KubeObject, version: string) =>
  convertObject(allKinds, object, `bootstrap.cluster.x-k8s.io/${version}`) as KubeObject & { spec: object };

it("a KubeadmConfig of v1beta1 is stored without its empty lists, which are shown again, but with empty taints", () => {
  const spec = {
    files: [],
    ntp: { servers: [] },
    preKubeadmCommands: ["true"],
    clusterConfiguration: { apiServer: { certSANs: [] }, imageRepository: "r" },
    joinConfiguration: { nodeRegistration: { taints: [] } },
  };
  const given = {
    apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1",
    kind: "KubeadmConfig",
    metadata: { name: "a", namespace: "default" },
    spec,
  } as KubeObject;
  const stored = convert(given, "v1beta2");
  expect(stored.spec).toEqual({
    preKubeadmCommands: ["true"],
    clusterConfiguration: { imageRepository: "r" },
    joinConfiguration: { nodeRegistration: { taints: [] } },
  });
  expect(convert(stored, "v1beta1").spec).toEqual(spec);
});
