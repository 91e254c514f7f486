import { IMAGE } from "./rig.ts";

/** Four pods on both nodes that respond over HTTP with their names. Another generation replaces them. */
export function web(generation: string): object {
  const soon = (key: string) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: { generation } },
        spec: {
          tolerations: [soon("node.kubernetes.io/not-ready"), soon("node.kubernetes.io/unreachable")],
          terminationGracePeriodSeconds: 30,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels: { app: "web" } },
            },
          ],
          containers: [
            {
              name: "web",
              image: IMAGE,
              args: ["netexec", "--http-port=8080", "--delay-shutdown=15"],
              readinessProbe: { httpGet: { path: "/hostname", port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}

/** The Service of these pods. */
export function service(type: string): object {
  const spec = { type, selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec };
}
