import type { Deployment, Service } from "@causeway/kubernetes";
import { AddonSet, manifest, type Manifest } from "@causeway/api";
import { clusterManifests } from "../../../clusters/manifests.ts";

/** Names and sizes of the sample cluster. */
export const demo = {
  namespace: "default",
  name: "demo",
  workers: "demo-workers",
  replicas: 3,
  version: "v1.34.0",
  service: "hello",
  addon: "kube-proxy",
} as const;

/** What of the sample cluster depends on the cloud. */
export interface DemoOptions {
  /** A clouds.yaml with the one entry `cloudName`. */
  readonly cloudsYaml: string;
  readonly cloudName: string;
  readonly flavor: string;
  readonly image: string;
  readonly replicas: number;
  /** Default: the demo's own. */
  readonly version?: string;
}

/** The sample cluster, and the add-on that it keeps. */
export function demoManifests(options: DemoOptions): readonly Manifest[] {
  const { namespace, name, addon } = demo;
  const addons = manifest(AddonSet, {
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: { namespace, name },
    spec: { clusterName: name, addons: [{ name: addon, catalogue: { name: "KubeProxy" } }] },
  });
  // Before the Cluster, whose presence says that all of it was made; the set belongs to it once the controller sees it.
  return [addons, ...clusterManifests({ ...demo, ...options })];
}

/** The Service of the sample cluster whose load balancer the demo waits for. */
export function demoService(): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: demo.service, namespace: "default" },
    spec: {
      type: "LoadBalancer",
      selector: { app: demo.service },
      ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }],
    },
  };
}

/**
 * The web application of the sample cluster, which the Service leads to. Its pods are simulated where the nodes are.
 */
export function demoApplication(): Deployment {
  const labels = { app: demo.service };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: demo.service, namespace: "default", labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "web",
              image: "registry.k8s.io/e2e-test-images/agnhost:2.53",
              args: ["netexec", "--http-port=8080"],
              ports: [{ name: "http", containerPort: 8080 }],
              resources: { requests: { cpu: "100m", memory: "64Mi" } },
            },
          ],
        },
      },
    },
  };
}
