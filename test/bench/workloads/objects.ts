import type { Deployment, Job } from "@causeway/kubernetes";

export const namespace = "default";
export const key = { namespace, name: "web" };

const podOf = (image: string, more: object = {}): object => ({
  containers: [{ name: "main", image, resources: { requests: { cpu: "50m", memory: "64Mi" } } }],
  automountServiceAccountToken: false,
  ...more,
});

export function deploymentOf(replicas: number): Deployment {
  const labels = { app: "web" };
  const spec = {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podOf("web:1") },
  };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: key, spec } as unknown as Deployment;
}

export function jobOf(name: string): Job {
  const spec = { template: { spec: podOf("work:1", { restartPolicy: "Never" }) } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { namespace, name }, spec } as unknown as Job;
}
